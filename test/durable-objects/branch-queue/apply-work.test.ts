import { describe, expect, it } from 'vitest'
import type { RefusedWork } from '../../../durable-objects/branch-queue/answers.ts'
import type { WorkResult } from '../../../durable-objects/branch-queue/apply-work.ts'
import { GIT_TIME } from '../../git/git.ts'
import { utf8 } from '../../git/pack/pack-builder.ts'
import { commitWork, GitBranch, mergeWork, TIME, write } from './git-branch.ts'

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`)
const text = (changes: Record<number, string> = {}) => LINES.map((line, i) => changes[i] ?? line).join('')

function refusal(result: WorkResult | undefined): RefusedWork | null {
  return result?.ok === false ? result.refusal : null
}

const reasons = (results: readonly WorkResult[]) => results.map((result) => (result.ok ? 'ok' : result.refusal.reason))

describe('a commit of changes', GIT_TIME, () => {
  it('is made on the tip, each on the one before, and git takes them', async () => {
    using branch = new GitBranch()
    const first = branch.commit({ 'a.txt': 'a', 'dir/b.txt': 'b' })
    const works = [
      commitWork([write('a.txt', 'A')], { message: 'First' }),
      commitWork([write('new/deep/c', 'c'), { kind: 'delete', path: utf8('dir/b.txt') }], {
        message: 'Second\n\nWhy.',
      }),
    ]
    expect(reasons(await branch.apply(works))).toEqual(['ok', 'ok'])
    expect(branch.git('log', '--format=%s|%an <%ae> %at|%cn %ct|%P', '--first-parent', '-2').split('\n')).toEqual([
      `Second|Agent <agent@example.com> ${TIME}|Agent ${TIME}|${branch.git('rev-parse', 'main^')}`,
      `First|Agent <agent@example.com> ${TIME}|Agent ${TIME}|${first}`,
    ])
    expect(branch.git('ls-tree', '-r', '--name-only', 'main').split('\n')).toEqual(['a.txt', 'new/deep/c'])
    expect(branch.read('main', 'a.txt')).toBe('A')
  })

  it('has the same id whenever it is made again on the same tip', async () => {
    using branch = new GitBranch()
    branch.commit({ a: text() })
    const work = commitWork([write('b', 'b')])
    const [one] = await branch.apply([work])
    branch.git('update-ref', 'refs/heads/main', 'main^')
    const [two] = await branch.apply([work])
    expect(one).toEqual(two)
  })

  it('is not older than what it is made on', async () => {
    using branch = new GitBranch()
    const later = TIME + 1000
    branch.commit({ a: 'a' }, 'from a clock that is ahead', { GIT_COMMITTER_DATE: `${later} +0000` })
    await branch.apply([commitWork([write('a', 'b')])])
    expect(branch.git('log', '-1', '--format=%ct', 'main')).toBe(String(later))
  })

  it('is merged with what came since its base, as git merges', async () => {
    using branch = new GitBranch()
    const base = branch.commit({ f: text(), other: 'o' })
    branch.commit({ f: text({ 2: 'on the branch\n' }), other: null, added: 'x' })
    const tip = branch.git('rev-parse', 'main')
    const work = commitWork([write('f', text({ 15: 'by the caller\n' })), write('mine', 'm')], { base })
    expect(reasons(await branch.apply([work]))).toEqual(['ok'])
    expect(branch.git('rev-parse', 'main^')).toBe(tip)
    branch.git('checkout', '-q', '-f', '-b', 'theirs', base)
    branch.commit({ f: text({ 15: 'by the caller\n' }), mine: 'm' })
    expect(branch.git('rev-parse', 'main^{tree}')).toBe(branch.git('merge-tree', '--write-tree', tip, 'theirs'))
  })

  it('follows a file that was moved since its base', async () => {
    using branch = new GitBranch()
    const base = branch.commit({ old: text() })
    branch.commit({ old: null, 'moved/new': text() })
    expect(reasons(await branch.apply([commitWork([write('old', text({ 3: 'changed\n' }))], { base })]))).toEqual([
      'ok',
    ])
    expect(branch.git('ls-tree', '-r', '--name-only', 'main')).toBe('moved/new')
    expect(branch.read('main', 'moved/new')).toContain('changed')
  })

  it('conflicts alone: those around it are made', async () => {
    using branch = new GitBranch()
    const base = branch.commit({ f: text(), g: text() })
    const results = await branch.apply([
      commitWork([write('f', text({ 5: 'first\n' }))], { base }),
      commitWork([write('f', text({ 5: 'second\n' }))], { base }),
      commitWork([write('g', text({ 5: 'third\n' }))], { base }),
    ])
    expect(reasons(results)).toEqual(['ok', 'merge-conflict', 'ok'])
    const conflict = refusal(results[1])
    expect(conflict).toMatchObject({
      message: expect.stringContaining('"f"'),
      conflicts: [
        {
          path: utf8('f'),
          kind: 'content',
          base: branch.git('rev-parse', `${base}:f`),
          ours: branch.git('rev-parse', 'main:f'),
          theirs: expect.stringMatching(/^[0-9a-f]{40}$/),
        },
      ],
    })
    const merged = conflict?.reason === 'merge-conflict' ? conflict.conflicts[0]?.merged : null
    expect(new TextDecoder().decode(merged!)).toContain('<<<<<<< main\nfirst\n=======\nsecond\n>>>>>>> this change\n')
    expect(branch.git('rev-list', '--count', 'main')).toBe('3')
  })

  it('holds no object that only a way to it had', async () => {
    using branch = new GitBranch()
    const base = branch.commit({ 'd/f': text(), 'd/g': 'g' })
    branch.commit({ 'd/f': text({ 2: 'on the branch\n' }) })
    const [result] = await branch.apply([commitWork([write('d/f', text({ 15: 'mine\n' }))], { base })])
    const reachable = branch.git('rev-list', '--objects', 'main', '--not', 'main^').split('\n')
    const made = result?.ok ? result.applied.objects.map(({ oid }) => oid) : []
    expect(made.sort()).toEqual(reachable.map((line) => line.slice(0, 40)).sort())
  })

  it.each([
    ['of the file that it is on', { path: 'f', content: text() }, true],
    ['of another file', { path: 'f', content: 'other' }, false],
    ['of a file that is not there', { path: 'gone', content: 'x' }, false],
    ['of nothing where there is nothing', { path: 'gone', content: null }, true],
    ['of nothing where there is something', { path: 'd/g', content: null }, false],
    ['below a file', { path: 'f/g', content: null }, true],
  ])('is judged by an expectation %s', async (_, { path, content }, holds) => {
    using branch = new GitBranch()
    branch.commit({ f: text(), 'd/g': 'g' })
    const oid = content === null ? null : branch.repository.store('blob', content)
    const [result] = await branch.apply([commitWork([write('x', 'x')], { expect: [{ path: utf8(path), oid }] })])
    if (holds) return expect(result?.ok).toBe(true)
    const there = path === 'gone' ? null : branch.git('rev-parse', `main:${path}`)
    expect(refusal(result)).toMatchObject({ reason: 'unexpected', path: utf8(path), present: there })
  })

  it('is held to what the commits before it in the queue have made', async () => {
    using branch = new GitBranch()
    branch.commit({ f: 'one' })
    const one = branch.git('rev-parse', 'main:f')
    const guarded = (content: string) => commitWork([write('f', content)], { expect: [{ path: utf8('f'), oid: one }] })
    expect(reasons(await branch.apply([guarded('two'), guarded('three')]))).toEqual(['ok', 'unexpected'])
    expect(branch.read('main', 'f')).toBe('two')
  })

  it.each([
    ['that the branch has already', commitWork([write('f', 'f')]), 'nothing-to-do'],
    ['of nothing', commitWork([]), 'nothing-to-do'],
    ['with a path that may not be', commitWork([write('a/../b', '')]), 'invalid-change'],
    ['below a file', commitWork([write('f/g', '')]), 'invalid-change'],
    ['of what is not there', commitWork([{ kind: 'delete', path: utf8('nope') }]), 'invalid-change'],
    ['with a base that is nowhere', commitWork([write('x', '')], { base: 'a'.repeat(40) }), 'unknown-commit'],
    ['by nobody', commitWork([write('x', '')], { author: { name: '', email: '' } }), 'invalid-change'],
  ])('%s is refused', async (_, work, reason) => {
    using branch = new GitBranch()
    const tip = branch.commit({ f: 'f' })
    expect(reasons(await branch.apply([work]))).toEqual([reason])
    expect(branch.git('rev-parse', 'main')).toBe(tip)
  })

  it('with a base that is a blob is refused', async () => {
    using branch = new GitBranch()
    branch.commit({ f: 'f' })
    const base = branch.git('rev-parse', 'main:f')
    expect(reasons(await branch.apply([commitWork([write('x', '')], { base })]))).toEqual(['unknown-commit'])
  })

  it('begins the default branch of a repository, and no other', async () => {
    using branch = new GitBranch()
    const works = [commitWork([write('README', 'hello')]), commitWork([write('b', 'b')])]
    expect(reasons(await branch.apply(works))).toEqual(['branch-missing', 'branch-missing'])
    expect(reasons(await branch.apply(works, { mayBegin: true, inTheWay: 'refs/heads/main/x' }))).toEqual([
      'branch-exists',
      'branch-exists',
    ])
    const based = commitWork([write('a', '')], { base: 'a'.repeat(40) })
    expect(reasons(await branch.apply([commitWork([]), based], { mayBegin: true }))).toEqual([
      'nothing-to-do',
      'branch-missing',
    ])
    expect(reasons(await branch.apply(works, { mayBegin: true }))).toEqual(['ok', 'ok'])
    expect(branch.git('log', '--format=%p', 'main').split('\n').at(-1)).toBe('')
  })
})

/** A branch `topic` that goes off from main, and main gone on. */
function forked(): GitBranch {
  const branch = new GitBranch()
  branch.commit({ f: text(), 'd/g': text() }, 'base')
  branch.git('checkout', '-q', '-b', 'topic')
  branch.commit({ f: text({ 2: 'topic 1\n' }) }, 'topic 1', { GIT_COMMITTER_DATE: '1700000100 +0000' })
  branch.commit({ t: 't' }, 'topic 2\n\nWith a body.', { GIT_COMMITTER_DATE: '1700000200 +0000' })
  branch.git('checkout', '-q', 'main')
  branch.commit({ f: text({ 15: 'main\n' }) }, 'main goes on', { GIT_COMMITTER_DATE: '1700000300 +0000' })
  return branch
}

describe('a merge', GIT_TIME, () => {
  it('makes the tree and the message that git makes', async () => {
    using branch = forked()
    const [ours, theirs] = [branch.git('rev-parse', 'main'), branch.git('rev-parse', 'topic')]
    expect(reasons(await branch.apply([mergeWork(theirs, 'merge')]))).toEqual(['ok'])
    expect(branch.git('log', '-1', '--format=%P|%s', 'main')).toBe(`${ours} ${theirs}|Merge branch 'topic'`)
    expect(branch.git('rev-parse', 'main^{tree}')).toBe(branch.git('merge-tree', '--write-tree', ours, theirs))
  })

  it('makes a commit also where the branch could go forward', async () => {
    using branch = forked()
    branch.git('update-ref', 'refs/heads/main', 'main^')
    const theirs = branch.git('rev-parse', 'topic')
    expect(reasons(await branch.apply([mergeWork(theirs, 'merge', { message: 'Bring it in' })]))).toEqual(['ok'])
    expect(branch.git('log', '-1', '--format=%s %p', 'main').split(' ')).toHaveLength(5)
    expect(branch.git('rev-parse', 'main^{tree}')).toBe(branch.git('rev-parse', 'topic^{tree}'))
  })

  it('comes after the commits that are before it in the queue', async () => {
    using branch = forked()
    const theirs = branch.git('rev-parse', 'topic')
    const works = [commitWork([write('z', 'z')]), mergeWork(theirs, 'merge'), commitWork([write('t', 'T')])]
    expect(reasons(await branch.apply(works))).toEqual(['ok', 'ok', 'ok'])
    expect(branch.git('ls-tree', '-r', '--name-only', 'main').split('\n')).toEqual(['d/g', 'f', 't', 'z'])
    expect(branch.read('main', 't')).toBe('T')
  })

  it('conflicts with the paths and both sides', async () => {
    using branch = forked()
    branch.commit({ f: text({ 2: 'main 2\n' }) })
    const [result] = await branch.apply([mergeWork(branch.git('rev-parse', 'topic'), 'merge')])
    expect(refusal(result)).toMatchObject({
      reason: 'merge-conflict',
      message: expect.stringContaining('topic conflicts'),
      conflicts: [{ path: utf8('f'), kind: 'content' }],
    })
  })

  it('goes forward only where nothing is in the way', async () => {
    using branch = forked()
    const theirs = branch.git('rev-parse', 'topic')
    expect(reasons(await branch.apply([mergeWork(theirs, 'fast-forward')]))).toEqual(['not-fast-forward'])
    branch.git('update-ref', 'refs/heads/main', 'main^')
    expect(reasons(await branch.apply([mergeWork(theirs, 'fast-forward')]))).toEqual(['ok'])
    expect(branch.git('rev-parse', 'main')).toBe(theirs)
  })

  it.each(['fast-forward', 'merge', 'squash', 'rebase'] as const)(
    'of what is in the branch is nothing to do, by %s',
    async (strategy) => {
      using branch = forked()
      const older = branch.git('rev-parse', 'main^')
      expect(reasons(await branch.apply([mergeWork(older, strategy)]))).toEqual(['nothing-to-do'])
    },
  )

  it('is refused where the branch is not as expected, or there is no such commit or branch', async () => {
    using branch = forked()
    const [tip, source] = [branch.git('rev-parse', 'main'), branch.git('rev-parse', 'topic')]
    const results = await branch.apply([
      mergeWork(source, 'merge', { expectedTip: source }),
      mergeWork('b'.repeat(40), 'merge'),
      mergeWork(source, 'squash', { expectedTip: tip }),
    ])
    expect(reasons(results)).toEqual(['tip-moved', 'unknown-commit', 'ok'])
    expect(refusal(results[0])).toMatchObject({ present: tip })
    const other = { ref: 'refs/heads/other', mayBegin: true }
    expect(reasons(await branch.apply([mergeWork(source, 'merge')], other))).toEqual(['branch-missing'])
  })
})

describe('a squash', GIT_TIME, () => {
  it('makes the commit that git makes, message included', async () => {
    using branch = forked()
    branch.git('branch', 'by-git', 'main')
    expect(reasons(await branch.apply([mergeWork(branch.git('rev-parse', 'topic'), 'squash')]))).toEqual(['ok'])
    branch.git('checkout', '-q', '-f', 'by-git')
    branch.git('merge', '-q', '--squash', 'topic')
    branch.git('commit', '-q', '--no-edit')
    expect(branch.git('log', '-1', '--format=%T %P%n%B', 'main')).toBe(
      branch.git('log', '-1', '--format=%T %P%n%B', 'by-git'),
    )
  })

  it('of changes that the branch has by other commits is nothing to do', async () => {
    using branch = forked()
    branch.git('checkout', '-q', 'topic')
    const theirs = branch.git('rev-parse', 'topic')
    branch.git('checkout', '-q', 'main')
    branch.commit({ f: text({ 2: 'topic 1\n', 15: 'main\n' }), t: 't' })
    expect(reasons(await branch.apply([mergeWork(theirs, 'squash')]))).toEqual(['nothing-to-do'])
  })
})

describe('a rebase', GIT_TIME, () => {
  /** What the commits of a branch say of themselves, but for who committed them and when. */
  const told = (branch: GitBranch, revision: string) => branch.git('log', '--format=%T|%an|%ae|%ad|%B', revision)

  it('makes the commits that git makes', async () => {
    using branch = forked()
    branch.git('branch', 'by-git', 'topic')
    expect(reasons(await branch.apply([mergeWork(branch.git('rev-parse', 'topic'), 'rebase')]))).toEqual(['ok'])
    expect(branch.git('log', '-1', '--format=%cn|%ct', 'main')).toBe(`Agent|${TIME}`)
    branch.git('reset', '-q', '--hard')
    branch.git('rebase', '-q', 'main~2', 'by-git')
    expect(told(branch, 'main')).toBe(told(branch, 'by-git'))
  })

  it('leaves commits as they are that stand on the tip', async () => {
    using branch = forked()
    branch.git('update-ref', 'refs/heads/main', 'main^')
    const theirs = branch.git('rev-parse', 'topic')
    expect(reasons(await branch.apply([mergeWork(theirs, 'rebase')]))).toEqual(['ok'])
    expect(branch.git('rev-parse', 'main')).toBe(theirs)
  })

  it('leaves out merges, and what changes nothing any more, but not what was empty from the start', async () => {
    using branch = forked()
    branch.git('checkout', '-q', 'topic')
    branch.git('checkout', '-q', '-b', 'side', 'topic~1')
    branch.commit({ side: 's' }, 'side', { GIT_COMMITTER_DATE: '1700000150 +0000' })
    branch.git('checkout', '-q', 'topic')
    branch.git('merge', '-q', '--no-edit', 'side')
    branch.commit({}, 'empty from the start')
    branch.commit({ f: text({ 2: 'topic 1\n', 15: 'main\n' }) }, 'what main has')
    branch.git('branch', 'by-git', 'topic')
    branch.git('checkout', '-q', 'main')
    expect(reasons(await branch.apply([mergeWork(branch.git('rev-parse', 'topic'), 'rebase')]))).toEqual(['ok'])
    branch.git('reset', '-q', '--hard')
    branch.git('rebase', '-q', 'main~4', 'by-git')
    expect(told(branch, 'main')).toBe(told(branch, 'by-git'))
    expect(branch.git('rev-list', '--merges', 'main')).toBe('')
  })

  it('keeps authors and messages that are no UTF-8', async () => {
    using branch = forked()
    branch.git('checkout', '-q', 'topic')
    const raw = Buffer.from(
      `tree ${branch.git('rev-parse', 'topic^{tree}')}\nparent ${branch.git('rev-parse', 'topic~2')}\n` +
        'author J\xf6rg <j@x> 1600000000 +0530\ncommitter J\xf6rg <j@x> 1600000000 +0000\n' +
        'encoding ISO-8859-1\ngpgsig not one\n\nGr\xfc\xdfe',
      'latin1',
    )
    const odd = branch.repository.store('commit', raw)
    branch.git('update-ref', 'refs/heads/odd', odd)
    branch.git('checkout', '-q', 'main')
    expect(reasons(await branch.apply([mergeWork(odd, 'rebase')]))).toEqual(['ok'])
    const made = Buffer.from(branch.repository.git(['cat-file', 'commit', 'main'])).toString('latin1')
    expect(made).toContain('author J\xf6rg <j@x> 1600000000 +0530\n')
    expect(made).toContain('encoding ISO-8859-1\n\nGr\xfc\xdfe')
    expect(made).not.toContain('gpgsig')
  })

  it('names the commit that conflicts', async () => {
    using branch = forked()
    branch.commit({ t: 'by main' }, 'in the way')
    const [result] = await branch.apply([mergeWork(branch.git('rev-parse', 'topic'), 'rebase')])
    expect(refusal(result)).toMatchObject({
      reason: 'merge-conflict',
      message: expect.stringContaining(`commit ${branch.git('rev-parse', '--short=7', 'topic')} (topic 2) conflicts`),
      conflicts: [{ path: utf8('t'), kind: 'add/add' }],
    })
  })

  it('of a history of its own replays its root too', async () => {
    using branch = forked()
    branch.git('checkout', '-q', '--orphan', 'alone')
    branch.git('rm', '-rfq', '.')
    branch.commit({ own: 'o' }, 'root')
    branch.commit({ own2: 'o' }, 'second')
    branch.git('checkout', '-q', 'main')
    expect(reasons(await branch.apply([mergeWork(branch.git('rev-parse', 'alone'), 'rebase')]))).toEqual(['ok'])
    expect(branch.git('ls-tree', '-r', '--name-only', 'main').split('\n')).toEqual(['d/g', 'f', 'own', 'own2'])
  })
})

describe('a branch', GIT_TIME, () => {
  it('is created at a commit, used, and deleted where it is expected', async () => {
    using branch = forked()
    const [at, target] = [{ ref: 'refs/heads/new' }, branch.git('rev-parse', 'topic')]
    const blob = branch.git('rev-parse', 'topic:f')
    expect(
      reasons(
        await branch.apply(
          [
            { kind: 'create', target: blob },
            { kind: 'create', target },
            commitWork([write('n', 'n')]),
            { kind: 'create', target },
          ],
          at,
        ),
      ),
    ).toEqual(['unknown-commit', 'ok', 'ok', 'branch-exists'])
    expect(branch.git('rev-parse', 'new^')).toBe(target)
    const gone = await branch.apply(
      [
        { kind: 'delete', expectedTip: target },
        { kind: 'delete', expectedTip: null },
        { kind: 'delete', expectedTip: null },
      ],
      at,
    )
    expect(reasons(gone)).toEqual(['tip-moved', 'ok', 'branch-missing'])
  })

  it('that cannot be read here is not begun anew, and can be deleted', async () => {
    using branch = new GitBranch()
    const [unreadable, other] = ['a'.repeat(40), 'b'.repeat(40)]
    const at = { mayBegin: true, unreadable }
    const works = [
      commitWork([write('README', 'hello')]),
      { kind: 'create', target: other },
      { kind: 'delete', expectedTip: other },
      { kind: 'delete', expectedTip: unreadable },
      commitWork([write('README', 'hello')]),
    ] as const
    const results = await branch.apply(works, at)
    expect(reasons(results)).toEqual(['damaged', 'damaged', 'tip-moved', 'ok', 'ok'])
    expect(refusal(results[0])).toMatchObject({ message: expect.stringContaining(`main is at ${unreadable}`) })
  })

  it('is not created below or above another', async () => {
    using branch = forked()
    const create = { kind: 'create', target: branch.git('rev-parse', 'topic') } as const
    const at = { ref: 'refs/heads/topic/sub', inTheWay: 'refs/heads/topic' }
    const [result] = await branch.apply([create], at)
    expect(refusal(result)).toEqual({
      reason: 'branch-exists',
      message: 'there is a branch topic already, so that topic/sub cannot be created',
    })
  })
})
