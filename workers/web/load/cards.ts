import { isOid } from '../../../git/bytes/oid.ts'
import { HttpError } from '../../http/http-error.ts'
import { utf8Text } from '../../http/percent.ts'
import type { Card } from '../cards/card.ts'
import { accountCard, commitCard, repositoryCard } from '../cards/cards.ts'
import type { PageCall } from '../page.ts'
import { pictureSize } from '../profile/picture-size.ts'
import { loadAccount } from './account.ts'
import { readCommitInfo } from './commit-info.ts'
import { frameOf, openCalled } from './frame.ts'

/** A card, and the picture that it shows. */
export interface CardSource {
  readonly card: Card
  /** Null: there is none, or it is not to be had now. */
  picture(): Promise<Uint8Array | null>
}

/** Of a picture that is taken apart for a card: a small file can hold very many. */
const MOST_POINTS = 4_000_000
const NO_PICTURE = async () => null

export async function cardOfAccount(call: PageCall): Promise<CardSource> {
  const data = await (await loadAccount(call)).read()
  const { avatar } = data.profile
  const picture = async () => {
    if (avatar === null) return null
    const shown = await (await call.deps.account(call.actor)).avatar(avatar)
    const size = shown && pictureSize(shown.bytes, shown.type)
    return size && size.width * size.height <= MOST_POINTS ? shown.bytes : null
  }
  return { card: accountCard(data), picture }
}

export async function cardOfRepository(call: PageCall): Promise<CardSource> {
  const opened = await openCalled(call)
  return { card: repositoryCard(frameOf(opened), await opened.facts.find()), picture: NO_PICTURE }
}

export async function cardOfCommit(call: PageCall): Promise<CardSource> {
  const opened = await openCalled(call)
  const oid = utf8Text(call.rest) ?? ''
  const graph = await opened.view.graph()
  if (!isOid(oid) || graph.find(oid) === -1) throw new HttpError(404, 'RevisionNotFound', 'there is no such commit')
  return { card: commitCard(frameOf(opened), await readCommitInfo(opened.view.objects, oid)), picture: NO_PICTURE }
}
