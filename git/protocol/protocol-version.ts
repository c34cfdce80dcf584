export type ProtocolVersion = 0 | 1 | 2

/**
 * The version that a `Git-Protocol` header asks for: the largest known one among its colon-separated keys
 * (gitprotocol-v2). Other keys, and versions that are not known, are passed over as git does.
 */
export function parseGitProtocol(header: string | null): ProtocolVersion {
  let version: ProtocolVersion = 0
  for (const key of (header ?? '').split(':')) {
    if (key === 'version=2') version = 2
    else if (key === 'version=1' && version < 1) version = 1
  }
  return version
}
