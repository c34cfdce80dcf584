import type { Commit } from '../../git/object/commit.ts'
import { parseSignature } from '../../git/object/signature.ts'
import { decodeText } from '../../git/object/text.ts'
import type { NamedCommit } from '../../storage/revision.ts'

/** `dev.skein.git.defs#commit` */
export function commitJson({ oid, commit }: NamedCommit): Record<string, unknown> {
  const { tree, parents, author, committer, encoding, message } = commit
  return {
    oid,
    tree,
    parents,
    author: signatureJson(author, encoding),
    committer: signatureJson(committer, encoding),
    message: decodeText(message, encoding),
    encoding: encoding ?? undefined,
  }
}

/** `dev.skein.git.defs#signature` */
function signatureJson(line: Uint8Array, encoding: Commit['encoding']): Record<string, unknown> {
  const { name, email, time, zone } = parseSignature(line)
  return {
    name: decodeText(name, encoding),
    email: decodeText(email, encoding),
    time: time ?? undefined,
    zone: zone === '' ? undefined : zone,
  }
}
