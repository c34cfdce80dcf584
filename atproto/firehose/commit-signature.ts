import { decode, encode, fromBytes } from '@atcute/cbor'
import { getPublicKeyFromDidController, P256PublicKey, type PublicKey, Secp256k1PublicKey } from '@atcute/crypto'
import { type Commit, isCommit } from '@atcute/repo'
import type { SigningKey } from '../identity/did-document.ts'
import { checkCborShape } from './cbor-shape.ts'
import type { CommitBlocks } from './frame.ts'
import { readBlock, SignedTree } from './signed-tree.ts'

/** Of a commit in CBOR: a map, a tag; six fields, and some that are yet to come. */
const COMMIT_BOUNDS = { maxDepth: 4, maxItems: 100 }

/** A key that signatures are checked by; null: it is of no kind that atproto knows. */
export async function readPublicKey(key: SigningKey): Promise<PublicKey | null> {
  try {
    const { type, publicKeyBytes } = getPublicKeyFromDidController(key)
    return await (type === 'p256' ? P256PublicKey : Secp256k1PublicKey).importRaw(compressPoint(publicKeyBytes))
  } catch {
    // A stranger's document: anything may stand there.
    return null
  }
}

/**
 * A point in the form that all of the library's implementations take: older documents have the other one.
 * https://www.secg.org/sec1-v2.pdf, 2.3.3
 */
function compressPoint(point: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (point[0] !== 0x04) return point
  const compressed = point.slice(0, (point.length + 1) / 2)
  compressed[0] = 0x02 + (point.at(-1)! & 1)
  return compressed
}

/** A commit as it came, without its signature being checked. */
export interface UncheckedCommit {
  readonly commit: Commit
  readonly tree: SignedTree
}

/** The commit object among the blocks; null: it is missing, or is not the commit of this account and revision. */
export function readCommitObject({ did, rev, cid, blocks }: CommitBlocks): UncheckedCommit | null {
  try {
    const block = readBlock(blocks, cid)
    if (block === null) return null
    checkCborShape(block, COMMIT_BOUNDS)
    const commit: unknown = decode(block as Uint8Array<ArrayBuffer>)
    if (!isCommit(commit) || commit.did !== did || commit.rev !== rev) return null
    return { commit, tree: new SignedTree(blocks, commit.data.$link) }
  } catch {
    return null
  }
}

/** Whether the owner of a key has signed a commit. https://atproto.com/specs/repository#commit-objects */
export async function isSignedBy(key: PublicKey, { sig, ...unsigned }: Commit): Promise<boolean> {
  try {
    return await key.verify(fromBytes(sig), encode(unsigned))
  } catch {
    // A signature of a wrong length, for one.
    return false
  }
}
