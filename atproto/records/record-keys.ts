import { createHash } from 'node:crypto'
import { isTid } from './tid.ts'

/**
 * Record keys. All start with the repository's own key, so that one range read finds all that a repository has in a
 * collection. The parsers take what strangers wrote and answer null for anything else than what the writers write.
 */

/** Bytes of the name's SHA-256 that a ref's key holds. */
const NAME_HASH_BYTES = 16
const REF_KEY = /^([^:]+):([0-9a-f]{32}):([1-9][0-9]{0,15})$/
const REFS_KEY = /^([^:]+):(0|[1-9][0-9]{0,15}):([1-9][0-9]{0,15})$/

/** Every key of the repository in its collections starts with this; as a cursor it stands before the first of them. */
export function keyPrefix(repo: string): string {
  return `${repo}:`
}

/** `<repo>:<tid>` */
export function packKey(repo: string, tid: string): string {
  return `${repo}:${tid}`
}

/** `<repo>:<hash of the name>:<seq>` */
export function refKey(repo: string, name: string, seq: number): string {
  return `${refKeyPrefix(repo, name)}${seq}`
}

/** What the keys of one ref have in common. */
export function refKeyPrefix(repo: string, name: string): string {
  return `${repo}:${nameHash(name)}:`
}

/** `<repo>:<shard>:<seq>` */
export function refsKey(repo: string, shard: number, seq: number): string {
  return `${repo}:${shard}:${seq}`
}

export function parsePackKey(key: string): { repo: string; tid: string } | null {
  const [repo, tid, ...rest] = key.split(':')
  return repo && tid && rest.length === 0 && isTid(repo) && isTid(tid) ? { repo, tid } : null
}

export function parseRefKey(key: string): { repo: string; hash: string; seq: number } | null {
  const [, repo, hash, seq] = REF_KEY.exec(key) ?? []
  if (!repo || !hash || !isTid(repo) || !Number.isSafeInteger(Number(seq))) return null
  return { repo, hash, seq: Number(seq) }
}

export function parseRefsKey(key: string): { repo: string; shard: number; seq: number } | null {
  const [, repo, shard, seq] = REFS_KEY.exec(key) ?? []
  if (!repo || !isTid(repo) || !Number.isSafeInteger(Number(shard)) || !Number.isSafeInteger(Number(seq))) return null
  return { repo, shard: Number(shard), seq: Number(seq) }
}

/**
 * First 16 bytes of the SHA-256 of the name's UTF-8 bytes, as hex. Hex and no denser alphabet, since hosts look for
 * slurs in record keys: letters beyond `f` would one day spell one, and that branch could never be pushed.
 */
export function nameHash(name: string): string {
  return createHash('sha256')
    .update(name, 'utf8')
    .digest('hex')
    .slice(0, NAME_HASH_BYTES * 2)
}
