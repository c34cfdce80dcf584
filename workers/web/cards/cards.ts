import { createHash } from 'node:crypto'
import type { Facts } from '../facts/gather-facts.ts'
import { countOf, formatDay } from '../format.ts'
import { accountHref, commitHref } from '../hrefs.ts'
import type { AccountData } from '../load/account.ts'
import type { CommitInfo } from '../load/commit-info.ts'
import type { RepositoryFrame } from '../load/frame.ts'
import type { Card } from './card.ts'

/** Raised where the same card is drawn otherwise. */
const DESIGN = 1

/** Names what a card shows: the same again, and it is the same picture. */
export function cardVersion(card: Card): string {
  return createHash('sha256')
    .update(JSON.stringify([DESIGN, card]))
    .digest('base64url')
    .slice(0, 16)
}

/** @param page path that the card is of */
export function cardHref(card: Card, page: string): string {
  return `/-/card/${cardVersion(card)}${page}/card.png`
}

export function repositoryCardHref(frame: RepositoryFrame, facts: Facts | null): string {
  return cardHref(repositoryCard(frame, facts), frame.base)
}

export function commitCardHref(frame: RepositoryFrame, commit: CommitInfo): string {
  return cardHref(commitCard(frame, commit), commitHref(frame.base, commit.oid))
}

export function accountCardHref(account: AccountData): string {
  return cardHref(accountCard(account), accountHref(account.actor))
}

export function repositoryCard(
  { actor, name, description, branches, tags }: RepositoryFrame,
  facts: Facts | null,
): Card {
  return {
    over: actor,
    title: name,
    text: description ?? '',
    facts: [
      ...(facts === null || facts.contributorsTotal === 0 ? [] : [countOf(facts.contributorsTotal, 'contributor')]),
      countOf(branches, 'branch', 'branches'),
      countOf(tags, 'tag'),
      ...(facts?.languages[0] === undefined ? [] : [facts.languages[0].name]),
    ],
    languages: facts?.languages ?? [],
    picture: null,
  }
}

export function commitCard({ actor, name }: RepositoryFrame, { oid, subject, body, author }: CommitInfo): Card {
  return {
    over: `${actor} / ${name}`,
    title: subject,
    text: body.split('\n\n')[0] ?? '',
    facts: [oid.slice(0, 8), author.name, ...(author.time === null ? [] : [formatDay(author.time)])],
    languages: [],
    picture: null,
  }
}

export function accountCard({ actor, did, profile, repositories, total }: AccountData): Card {
  return {
    over: profile.displayName === '' ? did : actor,
    title: profile.displayName || actor,
    text: profile.description,
    facts: [countOf(total ?? repositories.length, 'repository', 'repositories')],
    languages: [],
    picture: profile.avatar,
  }
}
