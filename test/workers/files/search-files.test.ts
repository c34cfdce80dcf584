import { describe, expect, it } from 'vitest'
import { type FileSearch, SEARCH_LIMITS, type SearchLimits, searchFiles } from '../../../workers/files/search-files.ts'
import { MemoryRepository } from '../../storage/memory-repository.ts'

const objects = new MemoryRepository()
const file = (name: string, content: string | Uint8Array) => ['100644', name, objects.blob(content)] as const
const src = objects.tree([
  file('a.ts', 'one\ntwo needle\r\nthree needle needle\n'),
  file('b.ts', 'Needle\n'),
  file('image.ts', Buffer.from('needle\0')),
  ['160000', 'module', '1'.repeat(40)],
])
const root = objects.tree([
  file('README.md', 'needle'),
  ['120000', 'link', objects.blob('needle')],
  ['40000', 'src', src],
])

async function search(
  query: Partial<FileSearch>,
  options: { after?: string; limit?: number; limits?: Partial<SearchLimits>; tree?: string; path?: string } = {},
) {
  const { after, limit = 100, limits = {}, tree = root, path = '' } = options
  const page = await searchFiles(
    objects,
    { tree, path: Buffer.from(path) },
    { name: null, text: null, ignoreCase: false, ...query },
    { after: after === undefined ? null : Buffer.from(after), limit, limits: { ...SEARCH_LIMITS, ...limits } },
  )
  const found = page.matches.flatMap(({ path: at, lines, moreLines }) => {
    const shown = lines.map(({ number, text }) => `${Buffer.from(at)}:${number}:${text}`)
    if (lines.length === 0) return [`${Buffer.from(at)}`]
    return moreLines === 0 ? shown : [...shown, `+${moreLines}`]
  })
  return { ...page, matches: found, next: page.next && `${Buffer.from(page.next)}` }
}

describe('searchFiles', () => {
  it('finds lines with a text', async () => {
    expect(await search({ text: 'needle' })).toEqual({
      matches: ['README.md:1:needle', 'src/a.ts:2:two needle', 'src/a.ts:3:three needle needle'],
      searched: 3,
      binary: 1,
      tooLarge: 0,
      next: null,
    })
    expect((await search({ text: 'NEEDLE', ignoreCase: true, name: '*.ts' })).matches).toEqual([
      'src/a.ts:2:two needle',
      'src/a.ts:3:three needle needle',
      'src/b.ts:1:Needle',
    ])
    expect((await search({ text: 'n.edle' })).matches).toEqual([])
  })

  it('finds files by a part of their path, or by a pattern of the name or the path', async () => {
    const names = async (name: string, ignoreCase = false) => (await search({ name, ignoreCase })).matches
    expect(await names('a.ts')).toEqual(['src/a.ts'])
    expect(await names('rc/')).toEqual(['src/a.ts', 'src/b.ts', 'src/image.ts'])
    expect(await names('?.ts')).toEqual(['src/a.ts', 'src/b.ts'])
    expect(await names('*/b.*')).toEqual(['src/b.ts'])
    expect(await names('readme')).toEqual([])
    expect(await names('readme*', true)).toEqual(['README.md'])
    expect(await names('module')).toEqual([])
    expect(await names('link')).toEqual(['link'])
  })

  it('names paths from the root when it looks into a directory', async () => {
    expect((await search({ name: 'src/b' }, { tree: src, path: 'src' })).matches).toEqual(['src/b.ts'])
  })

  it('goes on where a page ended, whatever ended it', async () => {
    const whole = (await search({ text: 'needle', ignoreCase: true })).matches
    for (const options of [
      { limit: 1 },
      { limits: { files: 1 } },
      { limits: { bytes: 1 } },
      { limits: { entries: 1 } },
      { limits: { entries: 2, files: 1 } },
    ]) {
      const found: string[] = []
      let pages = 0
      for (let after: string | null = null; ; pages++) {
        const page: Awaited<ReturnType<typeof search>> = await search(
          { text: 'needle', ignoreCase: true },
          { ...options, ...(after === null ? {} : { after }) },
        )
        found.push(...page.matches)
        after = page.next
        if (after === null) break
      }
      expect([options, found]).toEqual([options, whole])
      expect(pages).toBeGreaterThan(1)
    }
  })

  it('reads no more than it may, and not what is too large', async () => {
    let read = 0
    const counting = {
      stat: (oid: string) => objects.stat(oid),
      read: (oid: string) => {
        read++
        return objects.read(oid)
      },
    }
    const many = objects.tree(Array.from({ length: 60 }, (_, i) => file(`f${`${i}`.padStart(2, '0')}`, `text ${i}`)))
    const page = await searchFiles(
      counting,
      { tree: many, path: Buffer.from('') },
      { name: null, text: 'absent', ignoreCase: false },
      { after: null, limit: 10, limits: { ...SEARCH_LIMITS, files: 20 } },
    )
    expect([page.searched, `${Buffer.from(page.next!)}`, read]).toEqual([20, 'f19', 21])
    expect(await search({ text: 'needle' }, { limits: { fileBytes: 6 } })).toMatchObject({
      tooLarge: 3,
      searched: 1,
    })
  })

  it('is cut where a pattern takes long, and goes on from there', async () => {
    const names = Array.from({ length: 40 }, (_, i) => 'a'.repeat(200) + `${i}`.padStart(2, '0'))
    const tree = objects.tree(names.map((name) => file(name, '')))
    const hard = `${'*a'.repeat(90)}*39`
    const limits = { comparisons: 202 * 181 * 10 }
    const page = await search({ name: hard }, { tree, limits })
    expect([page.matches, page.next]).toEqual([[], names[9]])
    expect((await search({ name: '*39' }, { tree, limits })).matches).toEqual([names[39]])
    expect((await search({ name: hard }, { tree, after: names[30]!, limits })).matches).toEqual([names[39]])
  })

  it('shows of many lines in one file the first, and of long lines the part around the text', async () => {
    const tree = objects.tree([
      file('long', `${'a'.repeat(1000)}needle${'b'.repeat(1000)}`),
      file('many', 'needle\n'.repeat(25)),
    ])
    const { matches } = await search({ text: 'needle' }, { tree })
    expect(matches[0]).toMatch(/^long:1:…a+needleb+…$/)
    expect(matches[0]!.length).toBeLessThan(260)
    expect(matches).toHaveLength(1 + 20 + 1)
    expect(matches.at(-1)).toBe('+5')
  })
})
