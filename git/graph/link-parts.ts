import { MemoryAccount } from '../bytes/memory-account.ts'
import { COMMIT, TAG } from '../object/object-type.ts'
import { asPackError } from '../pack/as-pack-error.ts'
import { PackedObjects, type ReadablePack } from '../pack/packed-objects.ts'
import { type BuiltGraph, buildGraph, type KnownObjects } from './build-graph.ts'
import { ObjectLinks } from './object-links.ts'
import { PartNumbers } from './part-numbers.ts'
import { TreeChildren } from './tree-children.ts'

/** Commits and tags between two looks at the memory held. */
const CHECKED_EVERY = 1024

export interface LinkOptions {
  /** What the repository holds beside. */
  readonly known: KnownObjects | null
  /** Called now and then with the number of commits whose objects are listed, and that of all. */
  readonly onProgress?: (done: number, total: number) => void
  /** Where the buffers held are entered, and added up as the work goes on. */
  readonly memory?: MemoryAccount
}

export interface LinkedParts {
  /** The same of all packs together as an ingest tells of one. */
  readonly missing: BuiltGraph['missing']
  readonly malformed: readonly string[]
  /** The graph file of one of the packs (see PackGraph). @throws {@link PackError} where there is not the memory for it */
  write(part: number): Uint8Array
}

/**
 * Makes the graphs of packs that one was cut into. Commits come before their trees in what git writes, so the graph of
 * one part takes all of them. Commits, tags and trees are read, each about once.
 *
 * @param packs in the order in which they were cut
 * @throws {@link PackError}
 */
export async function linkParts(packs: readonly ReadablePack[], options: LinkOptions): Promise<LinkedParts> {
  const memory = options.memory ?? new MemoryAccount(Number.POSITIVE_INFINITY)
  const ids = new PartNumbers(packs.map(({ index }) => index))
  const types = typesOf(packs, ids)
  const links = new ObjectLinks(ids, new TreeChildren(ids, 0))
  const objects = new PackedObjects(packs, { bases: options.known?.objects ?? null })
  for (const holder of [objects, links, ids, { heldBytes: types.byteLength }]) memory.enter(holder)
  try {
    await readLinks(packs, ids, objects, links, memory)
    const { known, onProgress } = options
    const graph = await buildGraph({ links, ids, types, objects, known, memory, ...(onProgress && { onProgress }) })
    memory.enter(graph)
    return {
      missing: graph.missing,
      malformed: [...links.malformed, ...graph.mistyped],
      write: (part) => {
        try {
          return graph.write(ids.starts[part], ids.starts[part + 1])
        } catch (error) {
          throw asPackError(error)
        }
      },
    }
  } catch (error) {
    throw asPackError(error)
  }
}

function typesOf(packs: readonly ReadablePack[], ids: PartNumbers): Uint8Array {
  const types = new Uint8Array(ids.entries)
  for (const [pack, { index }] of packs.entries()) {
    for (let ordinal = 0; ordinal < index.entries; ordinal++) types[ids.starts[pack]! + ordinal] = index.type(ordinal)
  }
  return types
}

/** Reads the commits and tags. Trees are read where they are needed. */
async function readLinks(
  packs: readonly ReadablePack[],
  ids: PartNumbers,
  objects: PackedObjects,
  links: ObjectLinks,
  memory: MemoryAccount,
): Promise<void> {
  let read = 0
  for (const [pack, { index }] of packs.entries()) {
    for (let ordinal = 0; ordinal < index.entries; ordinal++) {
      const type = index.type(ordinal)
      if (type !== COMMIT && type !== TAG) continue
      if (read++ % CHECKED_EVERY === 0) memory.check()
      const number = ids.starts[pack]! + ordinal
      // The same object once more.
      if (ids.numberOf(number) !== number) continue
      const { bytes } = await objects.readAt({ pack, ordinal })
      links.add(number, type, index.oidBytes(ordinal), bytes)
    }
  }
}
