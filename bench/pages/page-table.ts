import type { Git } from '../../dev/git.ts'
import type { Source } from '../stage.ts'

/** A page that is measured. */
export interface MeasuredPage {
  readonly name: string
  /** Path and query at the edge. */
  readonly path: string
  /** What is to be reached by one that is asked again, in milliseconds; null: nothing is said. */
  readonly reach: number | null
  /** What is to be reached by one that a new isolate draws, in milliseconds; null: nothing is said. */
  readonly coldReach: number | null
  /** Whether its size is one that typical pages are held to. */
  readonly isTypical: boolean
}

/** Of pages that are made of what a repository has anyway. Milliseconds. */
const QUICK = 8
/** Of a file that is highlighted. Milliseconds. */
const HIGHLIGHTED = 25
/** Of a directory with what last changed each entry, in a new isolate. Milliseconds. */
const COLD_DIRECTORY = 150
/** The file that is highlighted is the one whose size comes closest to this. Bytes. */
const FILE_SIZE = 40 * 1024
/** Larger files are not shown. Bytes. */
const LARGEST_SHOWN = 1024 * 1024
/** Commits that the one with the most files is looked for among, and how many files it may have. */
const LOOKED_AT = 500
const MOST_FILES = 50
/** How many first parents a comparison goes over. */
const COMPARED = 30
const HIGHLIGHTED_NAMES = /\.(?:c|cc|cpp|cs|go|h|java|js|kt|mjs|php|py|rb|rs|swift|ts|tsx)$/

/**
 * One of each kind, of what a repository has.
 *
 * @param base path of the repository's page
 */
export async function pagesOf(git: Git, { directory, branch }: Source, base: string): Promise<MeasuredPage[]> {
  const run = async (...args: string[]) => (await git.run(args, { cwd: directory })).stdout.trim()
  const files = (await run('ls-tree', '-r', '-l', '--full-tree', branch)).split('\n').flatMap(readFile)
  const code = files.filter(({ path }) => HIGHLIGHTED_NAMES.test(path))
  const shown = code.filter(({ size }) => size <= LARGEST_SHOWN)
  const file = best(shown, ({ size }) => -Math.abs(size - FILE_SIZE))
  const largest = best(shown, ({ size }) => size)
  const folder = best([...countFolders(files)], ([, count]) => count)[0]
  const readme = files.find(({ path }) => /^readme(?:\.md)?$/i.test(path))
  const [newest] = (await run('rev-list', '--no-merges', '--max-count=1', branch)).split('\n')
  const many = best(await countChanges(run, branch), ([, count]) => (count <= MOST_FILES ? count : 0))[0]
  const line = (await run('rev-list', '--first-parent', `--max-count=${COMPARED + 1}`, branch)).split('\n')
  const at = (page: string, path: string) => `${base}/${page}/${branch}/${encodePath(path)}`
  const [actor] = base.slice(1).split('/')
  return [
    page('home', '/', null),
    page('account', `/${actor}`, null),
    page('search', `/search?q=${base.split('/').at(-1)}`, null),
    { ...page('repository', base, QUICK), coldReach: COLD_DIRECTORY },
    page(`tree ${folder}`, at('tree', folder), QUICK),
    ...(readme === undefined ? [] : [page(`document ${readme.path}`, at('blob', readme.path), null)]),
    page(`file ${nameOf(file)}`, at('blob', file.path), HIGHLIGHTED),
    { ...page(`largest file ${nameOf(largest)}`, at('blob', largest.path), null), isTypical: false },
    page('commits', `${base}/commits/${branch}`, QUICK),
    page('commits of the file', at('commits', file.path), null),
    page('commit', `${base}/commit/${newest}`, null),
    page('commit of many files', `${base}/commit/${many}`, null),
    page(`compare ${line.length - 1} first parents`, `${base}/compare/${line.at(-1)}...${branch}`, null),
    { ...page('blame of the file', at('blame', file.path), null), isTypical: false },
    page('branches', `${base}/branches`, null),
    page('tags', `${base}/tags`, null),
  ]
}

interface SizedFile {
  readonly path: string
  readonly size: number
}

function page(name: string, path: string, reach: number | null): MeasuredPage {
  return { name, path, reach, coldReach: null, isTypical: true }
}

/** A line of `git ls-tree -l`; submodules have no size. */
function readFile(line: string): SizedFile[] {
  const match = /^\d+ blob [0-9a-f]+ +(\d+)\t([^"].*)$/.exec(line)
  return match === null ? [] : [{ size: Number(match[1]), path: match[2] as string }]
}

function nameOf({ path, size }: SizedFile): string {
  return `${path} (${Math.round(size / 1024)} KiB)`
}

/** Files right in each directory. */
function countFolders(files: readonly SizedFile[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const end = path.lastIndexOf('/')
    if (end > 0) counts.set(path.slice(0, end), (counts.get(path.slice(0, end)) ?? 0) + 1)
  }
  return counts
}

/** Files that each of the newest commits has changed, merges left out. */
async function countChanges(
  run: (...args: string[]) => Promise<string>,
  branch: string,
): Promise<[commit: string, files: number][]> {
  const log = await run('log', '--no-merges', `--max-count=${LOOKED_AT}`, '--format=commit %H', '--name-only', branch)
  const counts: [string, number][] = []
  for (const text of log.split(/^commit /m).slice(1)) {
    const [commit = '', ...names] = text.split('\n').filter(Boolean)
    counts.push([commit, names.length])
  }
  return counts
}

function best<T>(values: readonly T[], score: (value: T) => number): T {
  const [first, ...rest] = values
  if (first === undefined) throw new Error('the repository lacks files of a language that is highlighted')
  return rest.reduce((leader, value) => (score(value) > score(leader) ? value : leader), first)
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
