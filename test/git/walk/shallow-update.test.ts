import { describe, expect, it } from 'vitest'
import { type Deepening, shallowUpdate } from '../../../git/walk/shallow-update.ts'
import { ParentGraph } from './parent-graph.ts'

/**
 * 0 - 1 - 2 - 3 - 5 - 6 - 7
 *      \\_____ 4 __/
 */
const GRAPH = new ParentGraph([[], [0], [1], [2], [1], [3, 4], [5], [6]])
const depth = (commits: number): Deepening => ({ kind: 'depth', commits })
const without = (...not: number[]): Deepening => ({ kind: 'limits', since: null, not })

describe('the ends of history', () => {
  it.each<[string, number[], number[], Deepening, number[], number[]]>([
    ['the want itself', [7], [], depth(1), [7], []],
    ['a few commits', [7], [], depth(3), [5], []],
    ['a merge: the shortest way counts', [7], [], depth(5), [2, 1], []],
    ['a root that is just reached', [1], [], depth(2), [0], []],
    ['more than there is', [7], [], depth(9), [], []],
    ['two wants, one behind the other', [7, 5], [], depth(2), [6, 3, 4], []],
    ['deeper', [7], [6], depth(3), [5], [6]],
    ['as deep as before', [7], [6], depth(2), [], []],
    ['less deep: the old ends stay', [7], [5], depth(1), [7], []],
    ['relative', [7], [5], { kind: 'relative', commits: 1 }, [3, 4], [5]],
    ['relative, and all wants are new', [4], [6], { kind: 'relative', commits: 1 }, [5], [6]],
    ['whole', [7], [3, 4], { kind: 'whole' }, [], [3, 4]],
    ['without what a commit reaches', [7], [], without(2), [3, 4], []],
    ['what a border hides is no end', [7], [], without(4), [5], []],
  ])('%s', (_, wants, ends, deepening, shallow, unshallow) => {
    const update = shallowUpdate(GRAPH, wants, ends, deepening)!
    expect([...update.shallow].sort()).toEqual(shallow.sort())
    expect([...update.unshallow].sort()).toEqual(unshallow.sort())
  })

  it('are not found where nothing is left', () => {
    expect(shallowUpdate(GRAPH, [3], [], without(7))).toBeNull()
    expect(shallowUpdate(GRAPH, [7], [], { kind: 'limits', since: 1000, not: [] })).toBeNull()
  })
})
