import { ScratchRepository } from './git.ts'

const PATHS = ['README', 'src/a.txt', 'src/b.txt', 'src/deep/er/c.txt', 'docs/d', 'run.sh', 'link']
const WORDS = ['skein', 'yarn', 'goose', 'knot', 'wool', 'loom', 'weft', 'warp', 'spindle', 'flight']
const ELSEWHERE = '1234567890123456789012345678901234567890'
const ROOT_CHANCE = 12
const MERGE_CHANCE = 4

export interface RandomHistory extends Disposable {
  readonly repository: ScratchRepository
  /** Commits, parents before children. */
  readonly commits: string[]
  /** Names of annotated tags, some of tags, one of a tree and one of a blob. */
  readonly tags: string[]
}

/**
 * A repository of the real git with a history made up from a seed: several roots, merges of up to four parents,
 * criss-crosses, reverts, files that come and go, a submodule, and (unless the clock is steady) times that run backwards
 * now and then.
 */
export function randomHistory(
  random: (limit: number) => number,
  size: number,
  { steadyClock = false }: { readonly steadyClock?: boolean } = {},
): RandomHistory {
  const repository = new ScratchRepository({ bare: true })
  const stream: string[] = []
  const contents: string[] = []
  let time = 1_700_000_000
  for (let commit = 1; commit <= size; commit++) {
    const parents = chooseParents(random, commit)
    time += random(10) === 0 && !steadyClock ? -5000 : random(1000)
    stream.push(`commit refs/heads/c${commit}\nmark :${commit}`)
    stream.push(`committer A <a@example.com> ${time} +0000`, data(`commit ${commit}`))
    parents.forEach((parent, i) => {
      stream.push(`${i === 0 ? 'from' : 'merge'} :${parent}`)
    })
    for (let change = random(4); change > 0; change--) stream.push(changeFile(random, contents))
  }
  repository.git(['fast-import', '--quiet', '--force', '--export-marks=marks'], `${stream.join('\n')}\n`)
  const commits = Array.from({ length: size }, (_, i) => repository.text(['rev-parse', `refs/heads/c${i + 1}`]))
  return {
    repository,
    commits,
    tags: tagSome(random, repository, commits),
    [Symbol.dispose]: () => repository[Symbol.dispose](),
  }
}

function chooseParents(random: (limit: number) => number, commit: number): number[] {
  if (commit === 1 || random(ROOT_CHANCE) === 0) return []
  const recent = () => Math.max(1, commit - 1 - random(Math.min(commit, 8)))
  const parents = new Set([recent()])
  if (random(MERGE_CHANCE) === 0) for (let more = 1 + random(3); more > 0; more--) parents.add(recent())
  return [...parents]
}

function changeFile(random: (limit: number) => number, contents: string[]): string {
  const path = PATHS[random(PATHS.length)]!
  switch (random(8)) {
    case 0:
      return `D ${path}`
    case 1:
      return `M 160000 ${ELSEWHERE} module`
    case 2:
      return `M 120000 inline link\n${data('README')}`
    case 3: {
      const old = contents[random(contents.length)] ?? 'nothing yet\n'
      return `M 100644 inline ${path}\n${data(old)}`
    }
    default: {
      const content = editContent(random, contents.at(-1 - random(3)) ?? '')
      contents.push(content)
      return `M ${path === 'run.sh' ? '100755' : '100644'} inline ${path}\n${data(content)}`
    }
  }
}

/** Long enough, and alike enough, for git to make deltas. */
function editContent(random: (limit: number) => number, old: string): string {
  const lines = old === '' ? Array.from({ length: 60 }, () => line(random)) : old.trimEnd().split('\n')
  for (let edit = 1 + random(4); edit > 0; edit--) lines[random(lines.length)] = line(random)
  if (random(3) === 0) lines.push(line(random))
  return `${lines.join('\n')}\n`
}

function line(random: (limit: number) => number): string {
  return Array.from({ length: 6 }, () => `${WORDS[random(WORDS.length)]}${random(100)}`).join(' ')
}

function tagSome(random: (limit: number) => number, repository: ScratchRepository, commits: string[]): string[] {
  const tags: string[] = []
  const tag = (target: string) => {
    const name = `t${tags.length}`
    repository.git(['tag', '-a', '-m', name, name, target])
    tags.push(name)
  }
  for (let i = 0; i < 5; i++) tag(commits[random(commits.length)]!)
  tag('t0')
  tag('t5')
  const [tree] = repository.text(['rev-parse', `${commits[random(commits.length)]}^{tree}`]).split('\n')
  tag(tree!)
  tag(repository.store('blob', `a blob of its own ${random(1000)}`))
  return tags
}

function data(text: string): string {
  return `data ${new TextEncoder().encode(text).length}\n${text}`
}
