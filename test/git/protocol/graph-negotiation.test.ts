import { expect, it } from 'vitest'
import { RepositoryGraph } from '../../../git/graph/repository-graph.ts'
import { negotiateFrom } from '../../../git/protocol/graph-negotiation.ts'
import { ScratchRepository } from '../git.ts'
import { ingestAll, packOf } from '../packs.ts'
import { oid } from './wire.ts'

it('gives up asking once every want reaches something common', async () => {
  using repository = new ScratchRepository()
  const commit = (name: string) => {
    repository.git(['commit', '-q', '--allow-empty', '-m', name])
    return repository.text(['rev-parse', 'HEAD'])
  }
  const [root, main] = [commit('root'), commit('main')]
  repository.git(['tag', '-a', '-m', 'a tag', 'tag', root])
  repository.git(['checkout', '-q', '--orphan', 'other'])
  const other = commit('another root')
  const tag = repository.text(['rev-parse', 'tag'])
  const tree = repository.text(['rev-parse', 'main^{tree}'])
  const graph = new RepositoryGraph(await ingestAll([packOf(repository, [], ['--all'])]))

  const one = negotiateFrom(graph, [main])
  expect([root, tag, tree].map((id) => one.has(id))).toEqual([true, true, true])
  expect(one.has(oid('f'))).toBe(false)
  expect(one.canGiveUp([root])).toBe(true)
  expect(one.canGiveUp([tag])).toBe(true)
  expect(one.canGiveUp([other])).toBe(false)
  expect(one.canGiveUp([tree])).toBe(false)

  const both = negotiateFrom(graph, [main, other])
  expect(both.canGiveUp([root])).toBe(false)
  expect(both.canGiveUp([root, other])).toBe(true)
  expect(negotiateFrom(graph, [tag]).canGiveUp([root])).toBe(true)
  expect(negotiateFrom(graph, [tree]).canGiveUp([root])).toBe(true)
})
