import { concatBytes } from '../bytes/concat.ts'
import { isOid, type Oid } from '../bytes/oid.ts'
import { FieldError } from './field-error.ts'
import { asciiText, firstHeader, type Header, readHeaders } from './header-lines.ts'
import { MalformedObjectError } from './malformed-object-error.ts'
import { serializeMessage } from './message.ts'
import { COMMIT } from './object-type.ts'
import { type Person, serializeSignature } from './signature.ts'

/** A commit. All text is bytes as the commit has them; {@link decodeText} shows them. */
export interface Commit {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  /** The author line after its key; empty where there is none. See {@link parseSignature}. */
  readonly author: Uint8Array
  readonly committer: Uint8Array
  /** Value of the `encoding` header, or null: UTF-8. */
  readonly encoding: string | null
  /** All headers in their order, known or not: `gpgsig`, `mergetag`, doubled ones. */
  readonly headers: readonly Header[]
  readonly message: Uint8Array
}

const NOTHING = new Uint8Array(0)

/**
 * Reads a commit as git's own parser does: the tree line and the parent lines must stand first, the rest may be
 * missing, doubled or odd, and the first of a doubled header counts.
 *
 * @throws {@link MalformedObjectError} if there is no tree line, or a tree or parent line holds no object id.
 */
export function parseCommit(bytes: Uint8Array): Commit {
  const { headers, messageAt } = readHeaders(bytes)
  const tree = headers[0]
  if (tree?.key !== 'tree') throw new MalformedObjectError(COMMIT, 'no tree line')
  const parents: Oid[] = []
  for (let i = 1; headers[i]?.key === 'parent'; i++) parents.push(parseOid(headers[i]!))
  const encoding = firstHeader(headers, 'encoding')
  return {
    tree: parseOid(tree),
    parents,
    author: firstHeader(headers, 'author') ?? NOTHING,
    committer: firstHeader(headers, 'committer') ?? NOTHING,
    encoding: encoding === null ? null : asciiText(encoding),
    headers,
    message: bytes.subarray(messageAt),
  }
}

function parseOid(header: Header): Oid {
  const oid = asciiText(header.value)
  if (!isOid(oid)) throw new MalformedObjectError(COMMIT, `${header.key} line without an object id`)
  return oid
}

/** What a commit is made of. */
export interface NewCommit {
  readonly tree: Oid
  /** In their order; none for a root. No commit may be named twice. */
  readonly parents: readonly Oid[]
  readonly author: Person
  readonly committer: Person
  /** May be empty. A newline is put at its end where there is none. */
  readonly message: string
}

/** The bytes of a commit, in UTF-8. @throws {@link FieldError} */
export function serializeCommit({ tree, parents, author, committer, message }: NewCommit): Uint8Array {
  if (new Set(parents).size < parents.length) throw new FieldError('a commit must not name a parent twice')
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${serializeSignature(author, 'author')}`,
    `committer ${serializeSignature(committer, 'committer')}`,
  ]
  return new TextEncoder().encode(`${lines.join('\n')}\n\n${serializeMessage(message)}`)
}

/** What becomes another in a commit that is made again somewhere else. */
export interface ReplayedCommit {
  readonly tree: Oid
  readonly parent: Oid | null
  readonly committer: Person
}

/**
 * The bytes of a commit that is made again, as `git rebase` does: its author and message stay byte by byte, in their
 * encoding. All other headers, signatures among them, speak of the commit that it was, and go.
 *
 * @throws {@link FieldError}
 */
export function serializeReplayed(
  { author, encoding, message }: Commit,
  { tree, parent, committer }: ReplayedCommit,
): Uint8Array {
  const encoder = new TextEncoder()
  const signature = serializeSignature(committer, 'committer')
  const before = [`tree ${tree}`, ...(parent === null ? [] : [`parent ${parent}`]), 'author '].join('\n')
  const after = ['', `committer ${signature}`, ...(encoding === null ? [] : [`encoding ${encoding}`]), '', ''].join(
    '\n',
  )
  // Odd tools leave it out, and git takes no commit without one.
  const by = author.length > 0 ? author : encoder.encode(signature)
  return concatBytes([encoder.encode(before), by, encoder.encode(after), message])
}
