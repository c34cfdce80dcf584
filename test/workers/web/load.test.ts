import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpError } from '../../../workers/http/http-error.ts'
import type { OpenedRepository, WebDeps } from '../../../workers/web/deps.ts'
import { gatherFacts } from '../../../workers/web/facts/gather-facts.ts'
import type { FactsKeeper } from '../../../workers/web/facts/kept-facts.ts'
import type { KeptLastCommits, LastCommitsKeeper } from '../../../workers/web/kept-last-commits.ts'
import { type CommitData, loadCommit } from '../../../workers/web/load/commit.ts'
import { loadCommits } from '../../../workers/web/load/commits.ts'
import { loadCompare } from '../../../workers/web/load/compare.ts'
import { loadFile } from '../../../workers/web/load/file.ts'
import { loadBranches, loadTags } from '../../../workers/web/load/refs.ts'
import { loadRepository } from '../../../workers/web/load/repository.ts'
import { loadTree } from '../../../workers/web/load/tree.ts'
import type { Form } from '../../../workers/web/negotiate.ts'
import type { Load, PageCall } from '../../../workers/web/page.ts'
import { repositoryText } from '../../../workers/web/text/files.ts'
import { commitText } from '../../../workers/web/text/history.ts'
import { jsonOf } from '../../../workers/web/text/json.ts'
import { ScratchRepository } from '../../git/git.ts'
import { GitRepositoryView } from '../../storage/git-repository-view.ts'

const repository = new ScratchRepository({ bare: true })
let view: GitRepositoryView
/** Of a fork, with a commit of its own. */
const fork = new ScratchRepository({ bare: true })
let forkView: GitRepositoryView
let forkHead = ''
let record: OpenedRepository['record'] = {
  name: 'app',
  defaultBranch: 'main',
  objectFormat: 'sha1',
  createdAt: '2026-01-01T00:00:00Z',
  website: 'javascript:alert(1)',
}
const encoder = new TextEncoder()
const LINES = Array.from({ length: 700 }, (_, i) => `${i}\n`).join('')

function commit(time: number, parents: string[], files: Record<string, string>): string {
  const list = Object.entries(files).map(([path, text]) => `100644 ${repository.store('blob', text)}\t${path}\n`)
  repository.git(['read-tree', '--empty'])
  repository.git(['update-index', '--index-info'], list.join(''))
  const tree = repository.text(['write-tree'])
  const date = { GIT_AUTHOR_DATE: `@${time} +0000`, GIT_COMMITTER_DATE: `@${time} +0000` }
  const args = parents.flatMap((parent) => ['-p', parent])
  return repository.text(['commit-tree', tree, ...args, '-m', `at ${time}\n\nbody`], '', date)
}

let kept: KeptLastCommits | null = null
const lastCommits: LastCommitsKeeper = {
  find: async () => kept,
  keep: (path, found) => {
    if (path === '') kept = found
  },
}
const facts: FactsKeeper = { find: async () => null, renew: () => undefined }
const SITE = { origin: 'https://edge.test', path: '/', query: '' }
const ids: string[] = []
beforeAll(() => {
  ids.push(commit(1_000, [], { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'README.md': '# App\n' }))
  ids.push(commit(2_000, [ids[0]!], { 'c.txt': 'a\n', 'd/b.txt': 'b\nb\n', 'README.md': '# App\n' }))
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`large${i}`, LINES]))
  ids.push(commit(3_000, [ids[0]!], { 'README.md': '# App\n', 'a.txt': 'a\n', 'd/b.txt': 'b\n', ...many }))
  for (const [ref, oid] of [
    ['heads/main', ids[1]],
    ['heads/side/x', ids[2]],
    ['heads/v1', ids[2]],
    ['tags/v1', ids[0]],
  ] as const) {
    repository.git(['update-ref', `refs/${ref}`, oid!])
  }
  repository.git(['tag', '-a', 'v2', '-m', 'Second\n\nIts notes', ids[1]!])
  view = new GitRepositoryView(repository)
  fork.git(['fetch', '--quiet', repository.path, 'refs/heads/main:refs/heads/main'])
  const tree = fork.text(['rev-parse', `${ids[0]}^{tree}`])
  forkHead = fork.text(['commit-tree', tree, '-p', ids[1]!, '-m', 'Of the fork'], '', {
    GIT_AUTHOR_DATE: '@5000 +0000',
    GIT_COMMITTER_DATE: '@5000 +0000',
  })
  fork.git(['update-ref', 'refs/heads/main', forkHead])
  forkView = new GitRepositoryView(fork)
})
afterAll(async () => {
  await view[Symbol.asyncDispose]()
  await forkView[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
  fork[Symbol.dispose]()
})

async function load<T>(
  loader: Load<T>,
  rest = '',
  query = '',
  form: Form = 'html',
): Promise<{ data: T; key: string; immutable: boolean }> {
  const deps: Pick<WebDeps, 'open'> = {
    open: async (reference) => {
      const actor = 'actor' in reference ? reference.actor : ''
      return {
        account: { did: `did:plc:${actor.split('.')[0]}`, handle: actor },
        rkey: '3l',
        record,
        view: actor === 'bob.test' ? forkView : view,
        lastCommits,
        facts,
      }
    },
  }
  const url = new URL(`https://edge.test/alice.test/app${query}`)
  const call: PageCall = {
    request: new Request(url),
    url,
    deps: deps as WebDeps,
    form,
    actor: 'alice.test',
    repository: 'app',
    rest: encoder.encode(rest),
  }
  const source = await loader(call)
  return { data: await source.read(), key: JSON.stringify(source.key), immutable: source.immutable }
}

describe('what pages show', () => {
  it('of a directory is the same where an older state of it is known, or one that was rewritten', async () => {
    const lastOf = async (rest: string) =>
      (await load(loadTree, rest)).data.directory.entries.map(({ name, commit }) => [name, commit?.oid])
    kept = null
    const [older, newer] = [await lastOf(ids[0]!), await lastOf(ids[1]!)]
    expect(older).toEqual([
      ['d', ids[0]],
      ['README.md', ids[0]],
      ['a.txt', ids[0]],
    ])
    expect(newer).toEqual([
      ['d', ids[1]],
      ['README.md', ids[0]],
      ['c.txt', ids[1]],
    ])
    kept = null
    await lastOf(ids[0]!)
    expect(kept).toMatchObject({ commit: ids[0] })
    expect(await lastOf(ids[1]!)).toEqual(newer)
    kept = { commit: 'f'.repeat(40), entries: new Map([['d', 'f'.repeat(40)]]), infos: new Map() }
    expect(await lastOf(ids[1]!)).toEqual(newer)
  })

  it('of a repository beside that: languages by size, who wrote how many commits, as far as was looked', async () => {
    const code = commit(4_000, [ids[1]!], { 'a.ts': 'x'.repeat(300), 'b.py': 'y'.repeat(100), 'README.md': '# App\n' })
    const tree = repository.text(['rev-parse', `${code}^{tree}`])
    repository.git(['update-ref', 'refs/heads/code', code])
    await using fresh = new GitRepositoryView(repository)
    const found = await gatherFacts(fresh, { commit: code, tree }, 5)
    expect(found).toMatchObject({ commit: code, at: 5, commits: 3, contributorsTotal: 1, isWhole: true })
    expect(found.languages.map(({ name, share }) => [name, share])).toEqual([
      ['TypeScript', 0.75],
      ['Python', 0.25],
    ])
    expect(found.contributors).toEqual([{ name: expect.any(String), commits: 3 }])
    const limits = { entries: 100, files: 1, commits: 2 }
    const cut = await gatherFacts(fresh, { commit: code, tree }, 5, limits)
    expect([cut.languages.map(({ name }) => name), cut.commits, cut.isWhole]).toEqual([['TypeScript'], 2, false])
    repository.git(['update-ref', '-d', 'refs/heads/code'])
  })

  it('of a comparison with a fork: its commits, and links that lead to it', async () => {
    for (const head of ['bob.test:main', 'bob.test/app:main', 'bob.test:']) {
      const { data } = await load(loadCompare, `main...${head}`)
      expect([data.commits.map(({ oid }) => oid), data.ahead, data.behind, data.mergeBase]).toEqual([
        [forkHead],
        1,
        0,
        ids[1],
      ])
      expect([data.frame.did, data.headFrame.did, data.headRevision]).toEqual(['did:plc:alice', 'did:plc:bob', 'main'])
      expect(data.diff.files.map(({ path }) => `${Buffer.from(path)}`)).toEqual(['a.txt', 'd/b.txt'])
    }
    const { data } = await load(loadCompare, 'side/x...bob.test:main')
    expect([data.ahead, data.behind, data.mergeBase]).toEqual([2, 1, ids[0]])
  })

  it('as text, of a commit: its patch, in a block that nothing in it ends', async () => {
    const { data } = await load(loadCommit, ids[1], '', 'markdown')
    const text = commitText(data as CommitData, SITE)
    expect(text).toContain('# at 2000\n')
    expect(text).toContain('```diff\n@@ -1 +1,2 @@\n b\n+b\n```\n')
    expect(JSON.parse(jsonOf(data))).toMatchObject({
      commit: { oid: ids[1], subject: 'at 2000' },
      diff: {
        files: [
          { path: 'c.txt', oldPath: 'a.txt', status: 'renamed' },
          { path: 'd/b.txt', body: { kind: 'patch', text: '@@ -1 +1,2 @@\n b\n+b\n' } },
        ],
      },
    })
  })

  it('as text, of a repository: how to clone it, its files, its README', async () => {
    const { data } = await load(loadRepository, '', '', 'markdown')
    const text = repositoryText(data, SITE)
    expect(text).toContain('Clone: git clone https://edge.test/alice.test/app\n')
    expect(text).toContain('[d/](<https://edge.test/alice.test/app/tree/main/d>)')
    expect(text).toContain('```markdown\n# App\n```')
  })

  it('of a repository: its files with what last changed them, its README, no link that could do harm', async () => {
    const { data } = await load(loadRepository)
    expect(data.frame).toMatchObject({ base: '/alice.test/app', branches: 3, tags: 2 })
    expect(data.about.website).toBeNull()
    const { entries, readme, isComplete } = data.tree!.directory
    expect(entries.map(({ name, kind, commit }) => [name, kind, commit?.oid])).toEqual([
      ['d', 'directory', ids[1]],
      ['README.md', 'file', ids[0]],
      ['c.txt', 'file', ids[1]],
    ])
    expect([readme?.text, isComplete]).toEqual(['# App\n', true])
  })

  it('of a revision: what the longest ref names, and by an id the same for ever', async () => {
    const byBranch = await load(loadTree, 'side/x/d')
    expect(byBranch.data.place.revision).toMatchObject({ name: 'side/x', ref: 'refs/heads/side/x', exact: false })
    expect(byBranch.immutable).toBe(false)
    const byId = await load(loadTree, `${ids[0]}/d`)
    expect(byId.immutable).toBe(true)
    record = { ...record, description: 'Another' }
    expect((await load(loadTree, `${ids[0]}/d`)).key).toBe(byId.key)
    expect((await load(loadTree, 'side/x/d')).key).not.toBe(byBranch.key)
  })

  it('of branches: a name that a tag has, too, is given in full; the default branch is first', async () => {
    const { refs } = (await load(loadBranches)).data
    expect(refs.map(({ name, revision, isDefault }) => [name, revision, isDefault])).toEqual([
      ['main', 'main', true],
      ['side/x', 'side/x', false],
      ['v1', 'refs/heads/v1', false],
    ])
    const tags = (await load(loadTags)).data.refs
    expect(tags.map(({ revision, annotation }) => [revision, annotation?.subject, annotation?.body])).toEqual([
      ['v2', 'Second', 'Its notes'],
      ['v1', undefined, undefined],
    ])
  })

  it('of a commit: renamed files, and the counts of lines', async () => {
    const { data, immutable } = await load(loadCommit, ids[1])
    if ('movedTo' in data) throw new Error('moved')
    expect(immutable).toBe(true)
    expect(data.commit).toMatchObject({ subject: 'at 2000', body: 'body' })
    const files = data.diff.files.map(({ status, added, deleted, path }) => [
      `${Buffer.from(path)}`,
      status,
      added,
      deleted,
    ])
    expect(files).toEqual([
      ['c.txt', 'renamed', 0, 0],
      ['d/b.txt', 'modified', 1, 0],
    ])
    expect((await load(loadCommit, 'main')).data).toEqual({ movedTo: `/alice.test/app/commit/${ids[1]}` })
  })

  it('of a large commit: pages that go on where the one before has ended', async () => {
    const seen: string[] = []
    for (let from: number | null = 0; from !== null; ) {
      const data: CommitData | { readonly movedTo: string } = (await load(loadCommit, ids[2], `?from=${from}`)).data
      if ('movedTo' in data) throw new Error('moved')
      expect([data.diff.total, data.diff.from]).toEqual([5, from])
      seen.push(...data.diff.files.map(({ path }) => `${Buffer.from(path)}`))
      from = data.diff.next
    }
    expect(seen).toEqual([0, 1, 2, 3, 4].map((i) => `large${i}`))
    await expect(load(loadCommit, ids[2], '?from=x')).rejects.toThrow(HttpError)
  })

  it('of a comparison: what head has since the two parted', async () => {
    const { data } = await load(loadCompare, 'main...side/x')
    expect(data).toMatchObject({ base: 'main', head: 'side/x', ahead: 1, behind: 1, mergeBase: ids[0] })
    expect([data.commits.map(({ oid }) => oid), data.diff.total]).toEqual([[ids[2]], 5])
  })

  it('of a file: its text and last change; a directory leads to its own page', async () => {
    const { data } = await load(loadFile, 'main/d/b.txt')
    if ('movedTo' in data) throw new Error('moved')
    expect(data).toMatchObject({ content: { kind: 'text', text: 'b\nb\n' }, lastChange: { oid: ids[1] }, size: 4 })
    expect((await load(loadFile, 'main/d')).data).toEqual({ movedTo: '/alice.test/app/tree/main/d' })
    await expect(load(loadFile, 'main/absent')).rejects.toMatchObject({ status: 404 })
  })

  it('of a history: of all, and of a path', async () => {
    const all = (await load(loadCommits, 'main')).data
    expect([all.commits.map(({ oid }) => oid), all.next]).toEqual([[ids[1], ids[0]], null])
    const one = (await load(loadCommits, 'main/README.md')).data
    expect(one.commits.map(({ oid }) => oid)).toEqual([ids[0]])
  })
})
