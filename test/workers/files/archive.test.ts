import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ArchiveEntry, archiveEntries } from '../../../workers/files/archive-entries.ts'
import { filesRouter } from '../../../workers/files/router.ts'
import { tarArchive } from '../../../workers/files/tar-archive.ts'
import { zipArchive } from '../../../workers/files/zip-archive.ts'
import { ScratchRepository } from '../../git/git.ts'
import { GitRepositoryView } from '../../storage/git-repository-view.ts'

const repository = new ScratchRepository({ bare: true })
const scratch = mkdtempSync(join(tmpdir(), 'skein-archive-'))
let view: GitRepositoryView
let head: string
const LARGE = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 31 + (i >> 7)) & 0xff))
const DEEP = `${'long-directory-name/'.repeat(14)}${'x'.repeat(120)}.txt`

beforeAll(() => {
  const entries: [mode: string, path: string, content: string | Buffer][] = [
    ['100644', 'README.md', '# Hello\n'],
    ['100755', 'bin/run.sh', '#!/bin/sh\n'],
    ['120000', 'bin/link', '../README.md'],
    ['120000', 'long-link', `${'../'.repeat(50)}target`],
    ['100644', 'empty', ''],
    ['100644', 'ünïcode/日本語.txt', 'odd\n'],
    ['100644', 'large.bin', LARGE],
    ['100644', DEEP, 'deep\n'],
    ['100644', `${'y'.repeat(99)}/z`, 'split\n'],
  ]
  const lines = entries.map(([mode, path, content]) => `${mode} ${repository.store('blob', content)}\t${path}\0`)
  repository.git(['update-index', '-z', '--index-info'], `${lines.join('')}160000 ${'1'.repeat(40)}\tmodule\0`)
  head = repository.text(['commit-tree', repository.text(['write-tree']), '-m', 'first'])
  for (const ref of ['heads/main', 'heads/feature/1', 'heads/a#b', 'tags/v1.0'])
    repository.git(['update-ref', `refs/${ref}`, head])
  view = new GitRepositoryView(repository)
})
afterAll(async () => {
  await view[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
  rmSync(scratch, { recursive: true })
})

async function get(path: string, init?: RequestInit): Promise<Response> {
  const request = new Request(`https://edge.test/alice.test/app/archive/${path}`, init)
  return (await filesRouter.fetch(request, { open: async () => view }))!
}

async function save(path: string): Promise<string> {
  const response = await get(path)
  expect(response.status).toBe(200)
  const file = join(scratch, path.replaceAll(/[^\w.]/g, '_'))
  writeFileSync(file, Buffer.from(await response.arrayBuffer()))
  return file
}

/** Entries of an archive with type, mode, time, link target and a digest of the content, as Python reads them. */
function describeArchive(file: string): unknown {
  const script = `
import sys, json, hashlib, tarfile, zipfile
path, out = sys.argv[1], []
if zipfile.is_zipfile(path):
    z = zipfile.ZipFile(path)
    assert z.testzip() is None
    for i in z.infolist():
        out.append([i.filename, i.external_attr >> 16, i.date_time, hashlib.sha1(z.read(i)).hexdigest()])
    out.append(z.comment.decode())
else:
    t = tarfile.open(path)
    for m in t:
        f = t.extractfile(m) if m.isreg() else None
        out.append([m.name, m.type.decode(), m.mode, m.mtime, m.linkname, m.uid, m.gid, m.uname, m.gname, f and hashlib.sha1(f.read()).hexdigest()])
    out.append(t.pax_headers)
print(json.dumps(out))`
  return JSON.parse(
    execFileSync('python3', ['-c', script, file], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, TZ: 'UTC' },
    }),
  )
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

function gitArchive(format: string, prefix: string): string {
  const file = join(scratch, `git.${format}`)
  repository.git(['archive', `--format=${format}`, `--prefix=${prefix}/`, `--output=${file}`, head], '', { TZ: 'UTC' })
  return file
}

describe('archives', () => {
  it('hold what git archive packs into a tar', async () => {
    const file = await save('main.tar.gz')
    expect(describeArchive(file)).toEqual(describeArchive(gitArchive('tar.gz', 'app-main')))
    expect(repository.text(['get-tar-commit-id'], execFileSync('gzip', ['-dc', file]).subarray(0, 1024))).toBe(head)
  })

  it('hold what git archive packs into a zip, compressed', async () => {
    const file = await save('main.zip')
    const [ours, theirs] = [file, gitArchive('zip', 'app-main')].map(describeArchive) as [unknown[], unknown[]]
    // git leaves modes of plain files and directories to the umask of whoever unpacks; ours are in the archive.
    const masked = (entries: unknown[]) =>
      entries.map((entry) =>
        Array.isArray(entry) && [0o100644, 0o040755].includes(entry[1]) ? entry.with(1, 0) : entry,
      )
    expect(masked(ours)).toEqual(masked(theirs))
    expect(execFileSync('unzip', ['-Z', file], { encoding: 'utf8' })).toMatch(
      /-rw-r--r--.* 400000 .*\bdefN .*large.bin/,
    )
  })

  it('hold more than 32 bits count, in a zip', async () => {
    const entries = () => archiveEntries(view.objects, repository.text(['rev-parse', `${head}^{tree}`]), 'app-main')
    const file = join(scratch, 'large.zip')
    for (const zip64From of [1, 100, 100_000]) {
      writeFileSync(file, await readAll(zipArchive(entries(), { commit: head, time: 1_700_000_000 }, zip64From)))
      expect(describeArchive(file)).toEqual(describeArchive(await save('main.zip')))
      execFileSync('unzip', ['-tq', file])
    }
  })

  it('hold more than 65,535 files, in a zip', async () => {
    async function* many(): AsyncGenerator<ArchiveEntry, void, undefined> {
      for (let i = 0; i < 70_000; i++) yield { name: Buffer.from(`${i}`), mode: 0o100644, content: new Uint8Array(0) }
    }
    const file = join(scratch, 'many.zip')
    writeFileSync(file, await readAll(zipArchive(many(), { commit: head, time: 0 })))
    expect(execFileSync('unzip', ['-Zt', file], { encoding: 'utf8' })).toContain('70000 files')
  }, 30_000)

  it('keep the bytes of a name that is no UTF-8, in a zip', async () => {
    async function* one(): AsyncGenerator<ArchiveEntry, void, undefined> {
      yield { name: Buffer.from('caf\xe9', 'latin1'), mode: 0o100644, content: Buffer.from('x') }
    }
    const zip = Buffer.from(await readAll(zipArchive(one(), { commit: head, time: 0 })))
    expect(zip.subarray(30, 34).toString('latin1')).toBe('caf\xe9')
    expect(zip.readUInt16LE(6) & 0x0800).toBe(0)
  })

  it.each([
    ['main', 'app-main'],
    ['feature/1', 'app-feature-1'],
    ['feature%2F1', 'app-feature-1'],
    ['a%23b', 'app-a#b'],
    ['v1.0', 'app-v1.0'],
    ['refs/tags/v1.0', 'app-refs-tags-v1.0'],
    ['HEAD', 'app-HEAD'],
  ])('of %s have their files in %s', async (revision, prefix) => {
    for (const suffix of ['tar.gz', 'zip']) {
      const entries = describeArchive(await save(`${revision}.${suffix}`)) as [string][]
      expect(entries[0]![0].replace(/\/$/, '')).toBe(prefix)
    }
  })

  it('say how they may be kept', async () => {
    const byRef = await get('main.zip')
    expect(byRef.headers.get('Cache-Control')).toBe('no-cache')
    await byRef.body?.cancel()
    const byId = await get(`${head}.tar.gz`, { method: 'HEAD' })
    expect(byId.headers.get('Cache-Control')).toContain('immutable')
    expect(byId.headers.get('Content-Disposition')).toBe(`attachment; filename="app-${head}.tar.gz"`)
    expect(await byId.text()).toBe('')
    const again = await get(`${head}.tar.gz`, { headers: { 'If-None-Match': byId.headers.get('ETag')! } })
    expect(again.status).toBe(304)
  })

  it.each([
    ['main', 404],
    ['main.rar', 404],
    ['nothing.zip', 404],
    ['%zz.zip', 400],
  ])('answers %s with %i', async (path, status) => {
    expect((await get(path)).status).toBe(status)
  })

  describe.each(['zip', 'tar.gz'])('stop where a %s could be unpacked elsewhere than below itself', (suffix) => {
    const store = (type: 'blob' | 'tree', bytes: Uint8Array | string) =>
      Buffer.from(repository.store(type, bytes), 'hex')
    const tree = (...entries: [string, Buffer][]) =>
      store('tree', Buffer.concat(entries.flatMap(([entry, oid]) => [Buffer.from(`${entry}\0`), oid])))
    const file = () => tree(['100644 evil', store('blob', 'x')])

    it.each<[string, () => Buffer]>([
      ['a directory ..', () => tree(['40000 ..', file()])],
      ['a directory .', () => tree(['40000 .', file()])],
      ['a directory .git', () => tree(['40000 .git', file()])],
      ['a name with slashes', () => tree(['100644 a/../../evil', store('blob', 'x')])],
      ['an absolute name', () => tree(['100644 /evil', store('blob', 'x')])],
      ['backslashes', () => tree(['100644 ..\\..\\evil', store('blob', 'x')])],
      [
        'a file below a symlink of the same name',
        () => tree(['120000 a', store('blob', '../..')], ['40000 a', file()]),
      ],
      [
        'the same, not side by side',
        () => tree(['120000 a', store('blob', '../..')], ['100644 a.b', store('blob', '')], ['40000 a', file()]),
      ],
      ['the same, below', () => tree(['40000 d', tree(['120000 a', store('blob', '/')], ['40000 a', file()])])],
      ['a symlink as long as a file', () => tree(['120000 a', store('blob', 'x'.repeat(200_000))])],
    ])('%s', async (_, root) => {
      const evil = repository.text(['commit-tree', root().toString('hex'), '-m', 'evil'])
      const response = await get(`${evil}.${suffix}`)
      await expect(response.arrayBuffer()).rejects.toThrow()
    })
  })

  it.each([
    ['tar', tarArchive],
    ['zip', zipArchive],
  ] as const)('stop reading when the client of a %s goes away', async (_, pack) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    async function* endless(): AsyncGenerator<ArchiveEntry, void, undefined> {
      try {
        for (let i = 0; ; i++) yield { name: Buffer.from(`file-${i}`), mode: 0o100644, content: LARGE }
      } finally {
        end()
      }
    }
    const reader = pack(endless(), { commit: head, time: 0 }).getReader()
    for (let read = 0; read < 2 * LARGE.length; ) read += (await reader.read()).value!.length
    await reader.cancel()
    await ended
  })
})
