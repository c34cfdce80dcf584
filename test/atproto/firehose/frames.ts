import { fromUint8Array, writeCarStream } from '@atcute/car'
import { type Bytes, decode, decodeFirst, encode, fromBytes, toBytes, toCidLink } from '@atcute/cbor'
import { toString as cidText, create as createCid } from '@atcute/cid'
import type { Signers } from '../../../atproto/firehose/signers.ts'

/** A message of `com.atproto.sync.subscribeRepos`, taken apart. */
export interface ReposMessage {
  header: Record<string, unknown>
  body: Record<string, unknown>
}

export function parseMessage(frame: Uint8Array): ReposMessage {
  const [header, rest] = decodeFirst(frame as Uint8Array<ArrayBuffer>)
  return { header, body: decode(rest) } as ReposMessage
}

export function encodeMessage({ header, body }: ReposMessage): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([encode(header), encode(body)]))
}

export function messageOf(type: string, body: Record<string, unknown>): Uint8Array<ArrayBuffer> {
  return encodeMessage({ header: { op: 1, t: type }, body })
}

export type Blocks = Map<string, { readonly cid: Uint8Array<ArrayBuffer>; data: Uint8Array<ArrayBuffer> }>

export function readBlocks(blocks: unknown): Blocks {
  const entries = [...fromUint8Array(fromBytes(blocks as Bytes) as Uint8Array<ArrayBuffer>)]
  return new Map(
    entries.map(({ cid, bytes }) => [cidText(cid), { cid: new Uint8Array(cid.bytes), data: new Uint8Array(bytes) }]),
  )
}

export async function writeBlocks(root: unknown, blocks: Blocks): Promise<Bytes> {
  const chunks: Uint8Array[] = []
  for await (const chunk of writeCarStream([root as ReturnType<typeof toCidLink>], blocks.values())) chunks.push(chunk)
  return toBytes(new Uint8Array(Buffer.concat(chunks)))
}

export interface CommitOp {
  readonly action: string
  readonly path: string
  /** The block of the record. */
  readonly record?: Uint8Array<ArrayBuffer>
}

/** A message of a commit that nobody has signed. @param change fields in place of its own */
export async function commitFrame(
  did: string,
  rev: string,
  ops: readonly CommitOp[],
  change: object = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const blocks: Blocks = new Map()
  const linked: object[] = []
  for (const { action, path, record } of ops) {
    if (record === undefined) {
      linked.push({ action, path, cid: null })
      continue
    }
    const cid = await createCid(0x71, record)
    blocks.set(path, { cid: cid.bytes as Uint8Array<ArrayBuffer>, data: record })
    linked.push({ action, path, cid: toCidLink(cid) })
  }
  const commit = toCidLink(await createCid(0x71, encode({})))
  const body = { repo: did, rev, seq: 7, time: '2026-12-01T00:00:00Z', tooBig: false, commit, ops: linked }
  return messageOf('#commit', { ...body, blocks: await writeBlocks(commit, blocks), ...change })
}

/** All messages that an upstream sends until one of which `isLast` is true. */
export async function collectFrames(
  url: string,
  isLast: (frame: Uint8Array) => boolean,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  const frames: Uint8Array<ArrayBuffer>[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.addEventListener('message', ({ data }) => {
    const frame = new Uint8Array(data as ArrayBuffer)
    frames.push(frame)
    if (isLast(frame)) resolve()
  })
  socket.addEventListener('error', () => reject(new Error(`${url} cannot be read`)))
  await promise
  socket.close()
  return frames
}

/** Signers of whom nothing is known. */
export const NO_SIGNERS = {
  of: async () => null,
  again: async () => null,
  forget: () => undefined,
} as unknown as Signers
