import { describe, expect, it } from 'vitest'
import { BLOB, COMMIT, TAG, TREE } from '../../../git/object/object-type.ts'
import { parseFilterSpec } from '../../../git/protocol/filter-spec.ts'
import { ProtocolError } from '../../../git/protocol/protocol-error.ts'

const ALL = [COMMIT, TREE, BLOB, TAG]
const INFINITY = Number.POSITIVE_INFINITY

describe('a filter specification', () => {
  it.each([
    ['blob:none', ALL, 0, INFINITY],
    ['blob:limit=0', ALL, 0, INFINITY],
    ['blob:limit=300', ALL, 300, INFINITY],
    ['blob:limit=1k', ALL, 1024, INFINITY],
    ['blob:limit=2M', ALL, 2 * 1024 ** 2, INFINITY],
    ['blob:limit=5g', ALL, 5 * 1024 ** 3, INFINITY],
    ['tree:0', ALL, INFINITY, 0],
    ['tree:3', ALL, INFINITY, 3],
    ['object:type=tag', [TAG], INFINITY, INFINITY],
    ['object:type=commit', [COMMIT], INFINITY, INFINITY],
    ['combine:blob:none+tree:4', ALL, 0, 4],
    ['combine:blob%3Alimit%3D10+blob:limit=1k+object:type=blob', [BLOB], 10, INFINITY],
    ['combine:object:type=tag+object:type=blob', [], INFINITY, INFINITY],
    ['combine:combine%3Atree%3A2%2Btree%3A3+tree:5', ALL, INFINITY, 2],
  ])('%s', (spec, types, blobLimit, treeDepth) => {
    const filter = parseFilterSpec(spec)
    expect([...filter.types]).toEqual(types)
    expect(filter).toMatchObject({ blobLimit, treeDepth })
  })

  it.each([
    'blob',
    'blob:some',
    'blob:limit=',
    'blob:limit=-1',
    'blob:limit=1kb',
    'tree:',
    'tree:x',
    'object:type=',
    'object:type=note',
    'object:none',
    'combine:',
    'combine:blob:none+',
    'combine:%zz',
    'nonsense',
    '',
  ])('%j is none', (spec) => {
    expect(() => parseFilterSpec(spec)).toThrow(ProtocolError)
    expect(() => parseFilterSpec(spec)).toThrow(/invalid filter-spec/)
  })

  it.each(['sparse:oid=main:sparse', 'sparse:path=x', 'combine:blob:none+sparse:oid=main:x'])(
    '%s is refused in words',
    (spec) => {
      expect(() => parseFilterSpec(spec)).toThrow(/filter 'sparse:.*' is not supported/)
    },
  )

  it('may not be combined without end', () => {
    let spec = 'blob:none'
    for (let depth = 0; depth < 9; depth++) spec = `combine:${encodeURIComponent(spec)}`
    expect(() => parseFilterSpec(spec)).toThrow('filters are combined too deep')
  })
})
