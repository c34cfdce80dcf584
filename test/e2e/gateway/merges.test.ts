import { describe, expect, test } from 'vitest'
import { startEdge } from '../../../dev/edge.ts'
import { startWorld } from '../harness.ts'
import type { WorkingCopy } from '../working-copy.ts'
import { createAgent, createRepository, type GatewayClient, landed, write } from './gateway-client.ts'

const world = await startWorld()
const { alice, atmosphere, edge } = world

const text = (...changed: [number, string][]) => {
  const all = Array.from({ length: 20 }, (_, i) => `line ${i}`)
  for (const [at, line] of changed) all[at] = line
  return `${all.join('\n')}\n`
}

/**
 * `main` and `feature` have gone apart by two commits each and go together; `clash` does not go with `main`; `ahead` has
 * all of `main`, and `behind` is in it.
 */
async function branchesIn(name: string): Promise<{ work: WorkingCopy; agent: GatewayClient }> {
  const work = await world.init()
  await work.commit('base', { 'a.txt': text(), 'b.txt': 'b\n' })
  await work.git('branch', 'behind')
  await work.git('switch', '--quiet', '--create', 'feature')
  await work.commit('feature 1', { 'a.txt': text([15, 'feature']) })
  await work.commit('feature 2\n\nwith a body\n', { 'dir/c.txt': 'c\n' })
  await work.git('switch', '--quiet', '--create', 'clash', 'behind')
  await work.commit('clash', { 'a.txt': text([2, 'clash']) })
  await work.git('switch', '--quiet', 'main')
  await work.commit('main 1', { 'a.txt': text([2, 'main']) })
  await work.commit('main 2', { 'b.txt': 'main\n' })
  await work.git('switch', '--quiet', '--create', 'ahead')
  await work.commit('ahead', { 'd.txt': 'd\n' })
  await work.git('switch', '--quiet', 'main')
  await work.git('tag', '--annotate', '--message', 'tagged', 'v1', 'feature')
  await work.git('push', '--quiet', '--all', world.as(alice, name))
  await work.git('push', '--quiet', '--tags', world.as(alice, name))
  return { work, agent: await createAgent(world, alice, name) }
}

async function cloned(name: string): Promise<WorkingCopy> {
  const clone = await world.clone(world.at(alice, name))
  await clone.fsck()
  return clone
}

const merge = (agent: GatewayClient, input: object) =>
  agent.post('merge', { branch: 'main', source: 'feature', ...input })
const preview = (agent: GatewayClient, params: object) =>
  agent.get('mergePreview', { branch: 'main', source: 'feature', ...params })

describe('a merge', () => {
  test('of two branches is what git makes of them', async () => {
    const { work, agent } = await branchesIn('merged')
    const before = await preview(agent, {})
    await work.git('merge', '--quiet', '--no-edit', 'feature')
    const answer = landed(await merge(agent, {}))
    const clone = await cloned('merged')
    const format = '--format=%T|%P|%B'
    expect(await clone.git('show', '--no-patch', format, answer.commit)).toBe(
      await work.git('show', '--no-patch', format, 'HEAD'),
    )
    expect(answer.tree).toBe(before.body.tree)
    expect(before.body).toMatchObject({ canMerge: true, canFastForward: false, isUpToDate: false })
    expect(before.body.changes.map(({ path }: { path: string }) => path)).toEqual(['a.txt', 'dir/c.txt'])
    expect(await merge(agent, {})).toMatchObject({ status: 422, body: { error: 'NothingToCommit' } })
  })

  test('into another branch, of a tag, has the message of git', async () => {
    const { work, agent } = await branchesIn('tagged')
    await work.git('switch', '--quiet', 'ahead')
    await work.git('merge', '--quiet', '--no-edit', 'feature')
    const into = landed(await merge(agent, { branch: 'ahead' }))
    const clone = await cloned('tagged')
    const message = (copy: WorkingCopy, commit: string) => copy.git('show', '--no-patch', '--format=%B', commit)
    expect(await message(clone, into.commit)).toBe(await message(work, 'HEAD'))
    const tagged = landed(await merge(agent, { source: 'v1', author: { name: 'Ada' } }))
    const after = await cloned('tagged')
    expect(await after.git('show', '--no-patch', '--format=%an|%s', tagged.commit)).toBe("Ada|Merge tag 'v1'")
  })

  test('by squash is one commit of all that the source changes', async () => {
    const { work, agent } = await branchesIn('squashed')
    const tip = await work.resolve('main')
    await work.git('merge', '--quiet', '--squash', 'feature')
    await work.git('commit', '--quiet', '--no-edit')
    const answer = landed(await merge(agent, { strategy: 'squash' }))
    expect(answer.parent).toBe(tip)
    const clone = await cloned('squashed')
    const format = '--format=%T|%P|%B'
    expect(await clone.git('show', '--no-patch', format, answer.commit)).toBe(
      await work.git('show', '--no-patch', format, 'HEAD'),
    )
    const { agent: other } = await branchesIn('squashed-with-words')
    const said = landed(await merge(other, { strategy: 'squash', message: 'All of the feature' }))
    expect(await (await cloned('squashed-with-words')).git('log', '-1', '--format=%B', said.commit)).toBe(
      'All of the feature',
    )
  })

  test('by rebase makes the commits anew on the branch', async () => {
    const { work, agent } = await branchesIn('rebased')
    const tip = await work.resolve('main')
    await work.git('switch', '--quiet', 'feature')
    await work.git('rebase', '--quiet', 'main')
    const answer = landed(await merge(agent, { strategy: 'rebase' }))
    expect(answer.parent).toBe(tip)
    const clone = await cloned('rebased')
    const log = ['log', '--format=%T|%an|%ae|%ad|%B', `${tip}..`]
    expect(await clone.git(...log)).toBe(await work.git(...log))
    expect(await clone.git('log', '--merges', '--format=%H')).toBe('')
  })

  test('by fast-forward moves the branch, and only if it can', async () => {
    const { work, agent } = await branchesIn('forwarded')
    expect(await merge(agent, { strategy: 'fast-forward' })).toMatchObject({
      status: 409,
      body: { error: 'NotFastForward' },
    })
    expect((await preview(agent, { strategy: 'fast-forward' })).body).toMatchObject({
      canMerge: false,
      error: 'NotFastForward',
    })
    expect((await preview(agent, { source: 'ahead', strategy: 'fast-forward' })).body).toMatchObject({
      canMerge: true,
      canFastForward: true,
    })
    const answer = landed(await merge(agent, { source: 'ahead', strategy: 'fast-forward' }))
    expect(answer.commit).toBe(await work.resolve('ahead'))
    expect(await merge(agent, { source: 'behind' })).toMatchObject({ status: 422, body: { error: 'NothingToCommit' } })
    expect((await preview(agent, { source: 'behind' })).body).toMatchObject({ canMerge: false, isUpToDate: true })
  })

  test.each(['merge', 'squash', 'rebase'])(
    'by %s that conflicts says in what, as its preview did',
    async (strategy) => {
      const { work, agent } = await branchesIn(`clash-${strategy}`)
      const side = async (revision: string, line: [number, string][]) => ({
        oid: await work.resolve(`${revision}:a.txt`),
        text: text(...line),
      })
      const refused = await merge(agent, { source: 'clash', strategy })
      expect(refused).toMatchObject({
        status: 409,
        body: {
          error: 'MergeConflict',
          conflicts: [
            {
              path: 'a.txt',
              kind: 'content',
              base: await side('behind', []),
              ours: await side('main', [[2, 'main']]),
              theirs: await side('clash', [[2, 'clash']]),
              merged: expect.stringMatching(/^line 0\nline 1\n<<<<<<< main\nmain\n=======\nclash\n>>>>>>> .*clash/),
            },
          ],
        },
      })
      const { body } = await preview(agent, { source: 'clash', strategy })
      expect(body).toMatchObject({ canMerge: false, error: 'MergeConflict', conflicts: refused.body.conflicts })
      expect(await (await cloned(`clash-${strategy}`)).resolve('HEAD')).toBe(await work.resolve('main'))
    },
  )

  test('is only made where the branch is expected to be', async () => {
    const { work, agent } = await branchesIn('expected')
    const [tip, old] = [await work.resolve('main'), await work.resolve('behind')]
    expect(await merge(agent, { expectTip: old })).toMatchObject({
      status: 409,
      body: { error: 'TipMoved', present: tip },
    })
    expect(landed(await merge(agent, { expectTip: tip })).parent).toBe(tip)
  })

  test('under one key is made once, though its source has moved or gone since', async () => {
    const { agent } = await branchesIn('keyed-merge')
    const send = () => merge(agent, { idempotencyKey: 'merge feature' })
    const first = landed(await send())
    await agent.land('more', [write('more.txt', '')], { branch: 'feature' })
    expect(landed(await send())).toEqual(first)
    landed(await agent.post('deleteBranch', { branch: 'feature' }))
    expect(landed(await send())).toEqual(first)
    const other = await merge(agent, { idempotencyKey: 'merge feature', source: 'clash' })
    expect(other).toMatchObject({ status: 422, body: { error: 'IdempotencyKeyReused' } })
    expect(await merge(agent, { idempotencyKey: 'another' })).toMatchObject({
      status: 404,
      body: { error: 'RevisionNotFound' },
    })
  })
})

describe('branches', () => {
  test('are created, committed to, and deleted', async () => {
    const { work, agent } = await branchesIn('branches')
    const [main, feature] = [await work.resolve('main'), await work.resolve('feature')]
    const created = landed(await agent.post('createBranch', { branch: 'agents/1' }))
    expect(created).toMatchObject({ commit: main, tree: await work.resolve('main^{tree}') })
    expect(created.parent).toBeUndefined()
    expect(landed(await agent.post('createBranch', { branch: 'refs/heads/agents/2', from: 'v1' })).commit).toBe(feature)
    const commits = await Promise.all(
      ['agents/1', 'agents/2'].map((branch) => agent.land(branch, [write('x.txt', branch)], { branch })),
    )
    expect(commits.map(({ parent }) => parent)).toEqual([main, feature])
    const again = await agent.post('createBranch', { branch: 'agents/1' })
    expect(again).toMatchObject({ status: 409, body: { error: 'BranchExists' } })
    for (const branch of ['agents', 'agents/1/more']) {
      expect(await agent.post('createBranch', { branch })).toMatchObject({
        status: 409,
        body: { error: 'BranchExists' },
      })
    }
    expect(await agent.post('deleteBranch', { branch: 'agents/1', expect: main })).toMatchObject({
      status: 409,
      body: { error: 'TipMoved', present: commits[0].commit },
    })
    const deleted = landed(await agent.post('deleteBranch', { branch: 'agents/1', expect: commits[0].commit }))
    expect(deleted).toMatchObject({ parent: commits[0].commit })
    expect(deleted.commit).toBeUndefined()
    expect(await agent.post('deleteBranch', { branch: 'agents/1' })).toMatchObject({
      status: 404,
      body: { error: 'BranchNotFound' },
    })
    const late = await agent.commit('late', [write('x', '')], { branch: 'agents/1' })
    expect(late).toMatchObject({ status: 404, body: { error: 'BranchNotFound' } })
    const listed = await work.git('ls-remote', '--heads', world.at(alice, 'branches'), 'agents/*')
    expect(listed).toBe(`${commits[1].commit}\trefs/heads/agents/2`)
  })

  test('are deleted once under one key, and created once', async () => {
    const { agent } = await branchesIn('keyed-branches')
    const create = () => agent.post('createBranch', { branch: 'new', from: 'feature', idempotencyKey: 'c' })
    const created = landed(await create())
    await agent.land('more', [write('more.txt', '')], { branch: 'feature' })
    expect(landed(await create())).toEqual(created)
    const remove = () => agent.post('deleteBranch', { branch: 'new', idempotencyKey: 'd' })
    const removed = landed(await remove())
    expect(landed(await remove())).toEqual(removed)
  })

  test('that were pushed through another edge a moment ago are found', async () => {
    const { work, agent } = await branchesIn('elsewhere')
    const { pdsUrl, plcUrl } = atmosphere
    const other = await startEdge({ port: 0, stateDirectory: await world.directory(), pdsUrl, plcUrl })
    try {
      const there = world.as(alice, 'elsewhere').replace(new URL(edge.url).host, new URL(other.url).host)
      await work.git('push', '--quiet', there, 'feature:agents/9')
    } finally {
      await other.close()
    }
    const { parent } = await agent.land('on it', [write('x', '')], { branch: 'agents/9' })
    expect(parent).toBe(await work.resolve('feature'))
  })

  test('of an empty repository are none', async () => {
    await createRepository(world, alice, 'none-yet')
    const agent = await createAgent(world, alice, 'none-yet')
    expect(await agent.post('createBranch', { branch: 'x' })).toMatchObject({
      status: 404,
      body: { error: 'RevisionNotFound' },
    })
    expect(await merge(agent, {})).toMatchObject({ status: 404 })
  })
})
