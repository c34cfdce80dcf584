import type { Oid } from '../../../git/bytes/oid.ts'
import { type Commit, parseCommit } from '../../../git/object/commit.ts'
import type { ObjectSource } from '../../../git/object/object-source.ts'
import { COMMIT } from '../../../git/object/object-type.ts'
import { readObject } from '../../../git/object/read-object.ts'
import { parseSignature } from '../../../git/object/signature.ts'
import { decodeText } from '../../../git/object/text.ts'

/** Who did something, and when. */
export interface Person {
  readonly name: string
  readonly email: string
  /** Milliseconds since 1970; null where no date can be read. */
  readonly time: number | null
}

/** A commit as lists and headings show it. */
export interface CommitInfo {
  readonly oid: Oid
  /** First line of the message. */
  readonly subject: string
  /** The rest of it. */
  readonly body: string
  readonly author: Person
  readonly committer: Person
  readonly parents: readonly Oid[]
  /** Whether it carries a signature, which nobody here has checked. */
  readonly isSigned: boolean
}

/** Longer subjects are cut: they come from strangers, and stand in lists. In UTF-16 units. */
const MAX_SUBJECT = 300

export async function readCommitInfo(objects: ObjectSource, oid: Oid): Promise<CommitInfo> {
  return commitInfo(oid, parseCommit(await readObject(objects, oid, COMMIT)))
}

export function commitInfo(oid: Oid, commit: Commit): CommitInfo {
  const { subject, body } = splitMessage(decodeText(commit.message, commit.encoding))
  return {
    oid,
    subject,
    body,
    author: person(commit.author, commit.encoding),
    committer: person(commit.committer, commit.encoding),
    parents: commit.parents,
    isSigned: commit.headers.some(({ key }) => key === 'gpgsig'),
  }
}

/** The first line, and what follows it. */
export function splitMessage(message: string): { readonly subject: string; readonly body: string } {
  const text = message.trim()
  const end = text.indexOf('\n')
  const first = (end === -1 ? text : text.slice(0, end)).trim()
  const subject = first.length > MAX_SUBJECT ? `${first.slice(0, MAX_SUBJECT).toWellFormed()}…` : first
  return { subject, body: end === -1 ? '' : text.slice(end + 1).replace(/^\n+/, '') }
}

export function person(line: Uint8Array, encoding: string | null = null): Person {
  const { name, email, time } = parseSignature(line)
  return {
    name: decodeText(name, encoding),
    email: decodeText(email, encoding),
    time: time === null ? null : time * 1000,
  }
}
