import { asPackError } from '../pack/as-pack-error.ts'
import { PackError } from '../pack/entry-header.ts'
import { findMissing } from './find-missing.ts'
import { LINK_LIMITS, LINK_START, type LinkInput, type LinkState } from './link-files.ts'
import { listedCommits, listNextCommits } from './list-commits.ts'
import { readNextLinks } from './read-links.ts'
import { writeNextGraph } from './write-part-graph.ts'

/** Numbers of objects are to have a bit to spare. */
const NUMBERS = 2 ** 31

/**
 * Makes the graphs of packs that one was cut into, in steps, so that neither memory nor time goes by how many there are.
 * Commits come before their trees in what git writes, so nothing can be made before all parts are there.
 *
 * 1. What the objects point at is read, some hundred thousand ids a step, and looked up in the indexes of all parts.
 * 2. The trees of commits are compared with their parents', by number.
 * 3. What is in no part is looked for in the repository.
 * 4. Each part gets its graph: of its commits, and with its share of the lists of others.
 *
 * A step that is cut off is made again, and does the same.
 *
 * @param state what the step before has returned; null: there was none
 * @throws {@link PackError}
 */
export async function linkNext(input: LinkInput, state: LinkState | null): Promise<LinkState> {
  input.memory.enter(input.parts)
  try {
    return await step(input, state ?? LINK_START)
  } catch (error) {
    throw asPackError(error)
  }
}

/** Whether all graphs are there. Then `missing`, `malformed` and `mistyped` say what an ingest says of one pack. */
export function isLinked({ parts }: Pick<LinkInput, 'parts'>, state: LinkState | null): state is LinkState {
  return state?.graphs === parts.parts.length
}

/** What is still true of the parts when the repository has other objects: what they point at. */
export function relinked(state: LinkState): LinkState {
  return { ...state, lists: [], compared: 0, missing: null, graphs: 0 }
}

function step(input: LinkInput, state: LinkState): Promise<LinkState> {
  const { parts, limits = LINK_LIMITS } = input
  if (parts.entries + limits.others > NUMBERS) throw new PackError(`the pack has ${parts.entries} objects`)
  if ((state.batches.at(-1)?.end ?? 0) < parts.entries) return readNextLinks(input, state)
  const commits = state.batches.reduce((sum, batch) => sum + batch.commits, 0)
  if (listedCommits(state) < commits) return listNextCommits(input, state)
  return state.missing === null ? findMissing(input, state) : writeNextGraph(input, state)
}
