import { isOid } from '../../../git/bytes/oid.ts'
import { HttpError } from '../../http/http-error.ts'
import { utf8Text } from '../../http/percent.ts'
import type { Card } from '../cards/card.ts'
import { commitCard, repositoryCard } from '../cards/cards.ts'
import type { PageCall } from '../page.ts'
import { readCommitInfo } from './commit-info.ts'
import { frameOf, openCalled } from './frame.ts'

export async function cardOfRepository(call: PageCall): Promise<Card> {
  const opened = await openCalled(call)
  return repositoryCard(frameOf(opened), await opened.facts.find())
}

export async function cardOfCommit(call: PageCall): Promise<Card> {
  const opened = await openCalled(call)
  const oid = utf8Text(call.rest) ?? ''
  const graph = await opened.view.graph()
  if (!isOid(oid) || graph.find(oid) === -1) throw new HttpError(404, 'RevisionNotFound', 'there is no such commit')
  return commitCard(frameOf(opened), await readCommitInfo(opened.view.objects, oid))
}
