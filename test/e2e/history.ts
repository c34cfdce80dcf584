import type { WorkingCopy } from './working-copy.ts'

export interface HistoryOptions {
  readonly commits: number
  /** Different seeds give different histories, the same seed always the same. */
  readonly seed: number
  /** Default true. Not every client takes every name that git takes. */
  readonly oddNames?: boolean
}

/** File names that have hurt someone: spaces, quotes, non-ASCII, a leading dash, what tree order gets wrong. */
const NAMES = [
  'a',
  'a.txt',
  'a/b',
  'a-b',
  'a0',
  'with space',
  'quo"te',
  "o'clock",
  'ünïcode',
  '日本語',
  '-dash',
  '.hidden',
  'deep/er/still/file',
  'UPPER',
  'back\\slash',
  'tab\there',
]

/**
 * Writes a history into `work` by `git fast-import`: edits, deletions, binary files, executables, symbolic links, odd
 * names, and a merge every seventh commit; the branch `main`, a branch at every fifth merge, and tags: lightweight,
 * annotated, and a tag of a tag.
 */
export async function writeHistory(
  work: WorkingCopy,
  { commits, seed, oddNames = true }: HistoryOptions,
): Promise<void> {
  const random = randomNumbers(seed)
  const names = oddNames ? NAMES : NAMES.filter((name) => /^[\w./-]+$/.test(name))
  const stream: Uint8Array[] = []
  const write = (text: string) => stream.push(Buffer.from(text))
  const data = (bytes: Uint8Array) => {
    write(`data ${bytes.length}\n`)
    stream.push(bytes)
    write('\n')
  }
  for (let n = 1; n <= commits; n++) {
    const merge = n % 7 === 0 && n > 7
    write(`commit refs/heads/main\nmark :${n}\n`)
    write(`author Ünï Cöde <uni@example.com> ${1_700_000_000 + 60 * n} +0530\n`)
    write(`committer Alice <alice@example.com> ${1_700_000_000 + 60 * n} -0800\n`)
    data(Buffer.from(`Commit ${n}\n\nof a history made by seed ${seed}.\n`))
    if (n > 1) write(`from :${n - 1}\n`)
    if (merge) write(`merge :${n - 5}\n`)
    for (let edits = 1 + random(3); edits > 0; edits--) {
      const name = names[random(names.length)] as string
      const path = name.includes('/') || name === 'a' ? `folder-${random(3)}/${name}-${random(4)}` : name
      const mode = (['100644', '100755', '120000'] as const)[random(20) < 17 ? 0 : 1 + random(2)] as string
      write(`M ${mode} inline "${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\t', '\\t')}"\n`)
      data(mode === '120000' ? Buffer.from(`target-${random(5)}`) : content(random))
    }
    if (n % 11 === 0) write(`D folder-${random(3)}\n`)
    if (n % 35 === 0) write(`reset refs/heads/side-${n}\nfrom :${n}\n\n`)
    if (n % 20 === 0) write(`reset refs/tags/light-${n}\nfrom :${n}\n\n`)
    if (n % 25 === 0) {
      write(`tag v${n}\nfrom :${n}\ntagger Alice <alice@example.com> ${1_700_000_000 + 60 * n} +0000\n`)
      data(Buffer.from(`Version ${n}\n`))
    }
  }
  const { status, stderr } = await work.tryWith({ input: Buffer.concat(stream) }, 'fast-import', '--quiet')
  if (status !== 0) throw new Error(`git fast-import: ${stderr}`)
  await work.git('tag', '--annotate', '--message', 'a tag', 'inner', 'main')
  await work.git('tag', '--annotate', '--message', 'a tag of a tag', 'outer', 'inner')
}

/** Text that shares most lines with its neighbours, so that git makes deltas, or now and then bytes that do not. */
function content(random: (below: number) => number): Uint8Array {
  if (random(10) === 0) return randomBytes(random(20_000), random(1 << 30))
  const lines = Array.from({ length: 20 + random(200) }, (_, n) =>
    random(12) === 0 ? `line ${random(1000)}` : `line ${n}`,
  )
  return Buffer.from(`${lines.join('\n')}\n`)
}

/** Incompressible, and the same for the same seed. */
export function randomBytes(length: number, seed: number): Uint8Array {
  const random = randomNumbers(seed)
  return Uint8Array.from({ length }, () => random(256))
}

/** Mulberry32: whole numbers from 0, below what is asked. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
