import { BLOB, COMMIT, type ObjectType, TAG, TREE } from '../object/object-type.ts'
import { combineFilters, NO_FILTER, type ObjectFilter } from '../walk/object-filter.ts'
import { ProtocolError } from './protocol-error.ts'

const TYPES: ReadonlyMap<string, ObjectType> = new Map([
  ['commit', COMMIT],
  ['tree', TREE],
  ['blob', BLOB],
  ['tag', TAG],
])
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['k', 2 ** 10],
  ['m', 2 ** 20],
  ['g', 2 ** 30],
])

/** How deep combined filters may hold combined filters. Nobody needs two. */
const NESTING_LIMIT = 8

/**
 * Reads a filter specification, as `--filter` of git rev-list has it. `sparse:oid` is not served: each object's path
 * would have to be known, and the answer could not be told from one that ignores it.
 *
 * @throws {@link ProtocolError}
 */
export function parseFilterSpec(spec: string, nesting = 0): ObjectFilter {
  const colon = spec.indexOf(':')
  const [kind, rest] = [spec.slice(0, Math.max(colon, 0)), spec.slice(colon + 1)]
  switch (kind) {
    case 'blob':
      if (rest === 'none') return { ...NO_FILTER, blobLimit: 0 }
      if (rest.startsWith('limit=')) return { ...NO_FILTER, blobLimit: parseSize(rest.slice('limit='.length), spec) }
      break
    case 'tree':
      return { ...NO_FILTER, treeDepth: parseSize(rest, spec) }
    case 'object': {
      const type = rest.startsWith('type=') ? TYPES.get(rest.slice('type='.length)) : undefined
      if (type === undefined) break
      return { ...NO_FILTER, types: new Set([type]) }
    }
    case 'sparse':
      throw new ProtocolError(`filter '${spec}' is not supported`)
    case 'combine':
      if (nesting === NESTING_LIMIT) throw new ProtocolError('filters are combined too deep')
      return rest
        .split('+')
        .map((part) => parseFilterSpec(decodePart(part), nesting + 1))
        .reduce(combineFilters)
  }
  throw new ProtocolError(`invalid filter-spec '${spec}'`)
}

/** A number with a unit, or none, as in git's configuration. */
function parseSize(text: string, spec: string): number {
  const [, digits, unit] = /^(\d{1,15})([kmg]?)$/i.exec(text) ?? []
  if (digits === undefined) throw new ProtocolError(`invalid filter-spec '${spec}'`)
  return Number(digits) * UNITS.get(unit!.toLowerCase())!
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new ProtocolError(`invalid filter-spec '${part}'`)
  }
}
