import { concatBytes } from '../git/bytes/concat.ts'
import { pktLine } from '../git/protocol/pkt-line.ts'
import type { DrainOptions } from './drain.ts'

const encoder = new TextEncoder()
const FLUSH = encoder.encode('0000')
const DELIMITER = encoder.encode('0001')

/** Has the edge make an answer anew that it may have kept. */
export const NO_STORE = { 'Cache-Control': 'no-store' }
/** The same as options of git. */
export const MADE_ANEW = ['-c', 'http.extraHeader=Cache-Control: no-store']

/** A request of protocol v2 to `git-upload-pack`, as git itself words it. */
export function uploadPackRequest(command: 'fetch' | 'ls-refs', args: readonly string[]): DrainOptions {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: concatBytes([
      pktLine(`command=${command}\n`),
      pktLine('object-format=sha1'),
      DELIMITER,
      ...args.map((line) => pktLine(`${line}\n`)),
      FLUSH,
    ]),
  }
}

/** What a clone asks for after the refs. */
export function cloneRequest(wants: readonly string[]): DrainOptions {
  const lines = new Set(wants.map((oid) => `want ${oid}`))
  return uploadPackRequest('fetch', ['thin-pack', 'ofs-delta', 'include-tag', 'no-progress', ...lines, 'done'])
}
