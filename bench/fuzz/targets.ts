import { createHash } from 'node:crypto'
import { concatBytes } from '../../git/bytes/concat.ts'
import { oidToBytes } from '../../git/bytes/oid.ts'
import { BufferRange } from '../../git/bytes/range.ts'
import { applyDelta } from '../../git/delta/apply-delta.ts'
import { ingestPack } from '../../git/graph/ingest-pack.ts'
import { PackGraph } from '../../git/graph/pack-graph.ts'
import { RepositoryGraph } from '../../git/graph/repository-graph.ts'
import { checkTree } from '../../git/object/check-tree.ts'
import { parseCommit } from '../../git/object/commit.ts'
import { parseSignature } from '../../git/object/signature.ts'
import { parseTag } from '../../git/object/tag.ts'
import { TreeReader } from '../../git/object/tree.ts'
import { inflateEntry } from '../../git/pack/inflate-entry.ts'
import { PackIndex } from '../../git/pack/pack-index.ts'
import { PACK_LIMITS } from '../../git/pack/pack-limits.ts'
import { readFetchRequest } from '../../git/protocol/fetch-request.ts'
import { readLsRefsRequest } from '../../git/protocol/ls-refs.ts'
import { readObjectInfoRequest } from '../../git/protocol/object-info.ts'
import { PktLineReader } from '../../git/protocol/pkt-line-reader.ts'
import { readReceiveRequest } from '../../git/protocol/receive-request.ts'
import { readUploadRequest } from '../../git/protocol/upload-request.ts'
import { readV2Command } from '../../git/protocol/v2-command.ts'
import { mutate } from './mutate.ts'
import type { Random } from './random.ts'
import { chunksOf, packOf, type Seeds } from './seeds.ts'

/** Something that reads what strangers, or a broken disk, may give it. */
export interface Target {
  readonly name: string
  /** What is changed: inputs that are right. */
  readonly sound: readonly Uint8Array[]
  /** An input that is nearly right. */
  readonly make: (random: Random) => Uint8Array
  readonly read: (input: Uint8Array) => unknown
}

const MEBIBYTE = 1024 * 1024
/** Low enough that what unfolds to a lot is refused here as it is, later, in life. */
const LIMITS = { ...PACK_LIMITS, objectBytes: MEBIBYTE, unfoldedBytes: 16 * MEBIBYTE }

export function makeTargets(seeds: Seeds): Target[] {
  const { entries, pack, index, graph, commit, tree, tag, base, delta, compressed, uploadV0, receive, commands } = seeds
  const soundIndex = new PackIndex(index)
  const ofBytes = (name: string, sound: Uint8Array, read: Target['read'], donor = sound): Target => ({
    name,
    sound: [sound],
    make: (random) => mutate(sound, random, donor),
    read,
  })
  return [
    ofBytes('pack', pack, readPack),
    {
      name: 'pack, with its checksum right',
      sound: [checksummed(pack)],
      make: (random) => checksummed(mutate(pack, random)),
      read: readPack,
    },
    {
      name: 'pack, of changed objects and deltas',
      sound: [packOf(entries)],
      make: (random) => {
        const victim = random.below(entries.length)
        return packOf(
          entries.map((entry, n) => (n === victim ? { ...entry, bytes: mutate(entry.bytes, random, tree) } : entry)),
        )
      },
      read: readPack,
    },
    ofBytes('delta', delta, (input) => applyDelta(base, input, MEBIBYTE)),
    ofBytes('zlib stream', compressed, (input) => inflateEntry(input, base.length)),
    ofBytes('commit', commit, readCommit, tag),
    ofBytes('tree', tree, readTree),
    ofBytes('tag', tag, parseTag, commit),
    ofBytes('upload-pack request, v0', uploadV0, (input) => readUploadRequest(readerOf(input)), receive),
    ofBytes('receive-pack request', receive, (input) => readReceiveRequest(readerOf(input)), uploadV0),
    {
      name: 'command of v2',
      sound: commands,
      make: (random) => mutate(random.pick(commands), random, uploadV0),
      read: readCommand,
    },
    ofBytes('index', index, readIndex),
    ofBytes('graph', graph, (input) => readGraph(soundIndex, input)),
  ]
}

/** Takes it in, half of them as strictly as from a pusher. */
async function readPack(input: Uint8Array): Promise<unknown> {
  return ingestPack({
    chunks: chunksOf(input),
    reopen: async () => new BufferRange(input),
    known: null,
    strict: input.length % 2 === 0,
    limits: LIMITS,
  })
}

function checksummed(pack: Uint8Array): Uint8Array {
  const body = pack.subarray(0, Math.max(pack.length - 20, 0))
  return concatBytes([body, createHash('sha1').update(body).digest()])
}

function readCommit(input: Uint8Array): unknown {
  const { author, committer } = parseCommit(input)
  return [parseSignature(author), parseSignature(committer)]
}

function readTree(input: Uint8Array): unknown {
  const reader = new TreeReader(input)
  while (reader.next()) if (reader.name.length === 0) throw new Error('a name is empty')
  return checkTree(input)
}

function readerOf(input: Uint8Array): PktLineReader {
  return new PktLineReader(chunksOf(input))
}

async function readCommand(input: Uint8Array): Promise<unknown> {
  const reader = readerOf(input)
  const command = await readV2Command(reader)
  switch (command?.command) {
    case 'fetch':
      return readFetchRequest(reader, command)
    case 'ls-refs':
      return readLsRefsRequest(reader, command)
    case 'object-info':
      return readObjectInfoRequest(reader, command)
    default:
      return command
  }
}

const ANY_OID = oidToBytes('7'.repeat(40))

/** Nobody else writes these files; still, a broken one must not hang a reader. */
function readIndex(input: Uint8Array): unknown {
  const index = new PackIndex(input)
  let found = 0
  for (let ordinal = 0; ordinal < index.entries; ordinal++) {
    found += index.find(index.oidBytes(ordinal)) === ordinal ? 1 : 0
    index.base(ordinal)
    index.offset(ordinal + 1)
  }
  return [found, index.find(ANY_OID), index.findByPrefix('7777', 2)]
}

function readGraph(index: PackIndex, input: Uint8Array): unknown {
  const graph = new RepositoryGraph([{ index, graph: new PackGraph(input) }])
  return graph.size
}
