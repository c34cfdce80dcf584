import { describe, expect, it } from 'vitest'
import { type AdvertisedRef, resolveHead } from '../../../git/protocol/advertised-refs.ts'
import { readFetchRequest } from '../../../git/protocol/fetch-request.ts'
import { encodeLsRefs, readLsRefsRequest } from '../../../git/protocol/ls-refs.ts'
import { encodeObjectInfo, readObjectInfoRequest } from '../../../git/protocol/object-info.ts'
import { ProtocolError } from '../../../git/protocol/protocol-error.ts'
import { readV2Command } from '../../../git/protocol/v2-command.ts'
import { concat, oid, readerOf, text, wire } from './wire.ts'

const REFS: AdvertisedRef[] = [
  { name: 'refs/heads/a#b', target: oid(1), peeled: null },
  { name: 'refs/heads/main', target: oid(2), peeled: null },
  { name: 'refs/tags/v1', target: oid(3), peeled: oid(1) },
  { name: 'refs/tags/v10', target: oid(4), peeled: null },
]

async function readLsRefs(...lines: string[]) {
  const reader = readerOf(wire('command=ls-refs\n', 'agent=git/2.39.5', 'object-format=sha1', 1, ...lines, null), 7)
  return readLsRefsRequest(reader, (await readV2Command(reader))!)
}

async function readFetch(...lines: string[]) {
  const reader = readerOf(wire('command=fetch', 'agent=git/2.39.5', 1, ...lines, null), 11)
  return readFetchRequest(reader, (await readV2Command(reader))!)
}

describe('the start of a request', () => {
  it('has a command and capabilities', async () => {
    const reader = readerOf(wire('command=fetch', 'server-option=a', 'server-option=b', null))
    expect(await readV2Command(reader)).toEqual({
      command: 'fetch',
      capabilities: new Map([['server-option', 'a b']]),
      hasArguments: false,
    })
  })

  it('may be a probe', async () => {
    expect(await readV2Command(readerOf('0000'))).toBeNull()
  })

  it.each([
    ['an empty body', new Uint8Array(0), 'the request is cut off'],
    ['a body that is cut off', wire('command=fetch'), 'the request is cut off'],
    ['no command', wire('agent=git', null), 'no command requested'],
    ['two commands', wire('command=fetch', 'command=ls-refs', null), 'more than one command requested'],
    [
      'another hash',
      wire('command=fetch', 'object-format=sha256', null),
      'mismatched object format: server sha1; client sha256',
    ],
    ['a mark that has no place', wire('command=fetch', 2), 'unexpected response-end packet'],
    ['endless capabilities', wire('command=fetch', ...Array(300).fill('x=y'), null), 'too many capabilities'],
  ])('refuses %s', async (_, bytes, message) => {
    await expect(readV2Command(readerOf(bytes))).rejects.toThrow(new ProtocolError(message))
  })
})

describe('ls-refs', () => {
  const refs = { head: resolveHead(REFS, 'main'), refs: REFS }

  it('lists all refs without a prefix', async () => {
    const request = await readLsRefs('peel\n', 'symrefs\n')
    expect(text(encodeLsRefs(request, refs))).toBe(
      text(
        wire(
          `${oid(2)} HEAD symref-target:refs/heads/main\n`,
          `${oid(1)} refs/heads/a#b\n`,
          `${oid(2)} refs/heads/main\n`,
          `${oid(3)} refs/tags/v1 peeled:${oid(1)}\n`,
          `${oid(4)} refs/tags/v10\n`,
          null,
        ),
      ),
    )
  })

  it('says nothing more than it is asked for', async () => {
    const request = await readLsRefs('ref-prefix HEAD', 'ref-prefix refs/tags/v1')
    expect(text(encodeLsRefs(request, refs))).toBe(
      text(wire(`${oid(2)} HEAD\n`, `${oid(3)} refs/tags/v1\n`, `${oid(4)} refs/tags/v10\n`, null)),
    )
  })

  it('tells where an unborn HEAD points', async () => {
    const empty = { head: resolveHead([], 'trunk'), refs: [] }
    const all = await readLsRefs('peel', 'symrefs', 'unborn')
    expect(text(encodeLsRefs(all, empty))).toBe(text(wire('unborn HEAD symref-target:refs/heads/trunk\n', null)))
    expect(text(encodeLsRefs(await readLsRefs('peel', 'symrefs'), empty))).toBe('0000')
  })

  it('lists everything when there are too many prefixes', async () => {
    const prefixes = Array.from({ length: 65_537 }, (_, i) => wire(`ref-prefix refs/x/${i}`))
    const reader = readerOf(concat([wire('command=ls-refs', 1), ...prefixes, wire(null)]))
    const request = await readLsRefsRequest(reader, (await readV2Command(reader))!)
    expect(request.prefixes).toEqual([])
  })

  it('refuses lines that it does not know', async () => {
    await expect(readLsRefs('peel', 'symref')).rejects.toThrow("unexpected line: 'symref'")
  })
})

describe('fetch', () => {
  it('takes what git sends', async () => {
    const request = await readFetch(
      'thin-pack',
      'no-progress',
      'include-tag',
      'ofs-delta',
      `want ${oid(1)}\n`,
      `want ${oid(1)}\n`,
      `have ${oid('a')}\n`,
      'done\n',
    )
    expect(request).toEqual({
      wants: [oid(1)],
      wantRefs: [],
      haves: [oid('a')],
      done: true,
      waitForDone: false,
      thinPack: true,
      noProgress: true,
      includeTag: true,
      ofsDelta: true,
      sidebandAll: false,
      deepen: { shallow: [], depth: null, relative: false, since: null, not: [], filter: null },
    })
  })

  it.each([
    [['deepen 1'], { depth: 1, relative: false }],
    [['deepen 3', 'deepen-relative'], { depth: 3, relative: true }],
    [
      ['deepen-since 1700000000', 'deepen-not refs/heads/x', 'deepen-not y'],
      { since: 1_700_000_000, not: ['refs/heads/x', 'y'] },
    ],
    [[`shallow ${oid(5)}`], { shallow: [oid(5)] }],
    [['filter tree:2'], { filter: { treeDepth: 2 } }],
  ])('reads %j', async (lines, deepen) => {
    const request = await readFetch(`want ${oid(1)}`, ...lines)
    expect(request.deepen).toMatchObject(deepen)
  })

  it('reads refs that are wanted by name, each once', async () => {
    const request = await readFetch('want-ref refs/heads/main', 'want-ref HEAD', 'want-ref HEAD', 'sideband-all')
    expect(request).toMatchObject({ wantRefs: ['refs/heads/main', 'HEAD'], sidebandAll: true })
  })

  it.each([
    ['want', "expected an object id after 'want', got ''"],
    ['want abc', "expected an object id after 'want', got 'abc'"],
    [`have ${'g'.repeat(40)}`, "expected an object id after 'have', got 'gggggggggggggggggggggggggggggggggggggggg'"],
    ['deepen 0', 'invalid deepen 0'],
    ['deepen -1', 'invalid deepen -1'],
    ['deepen x', 'invalid deepen x'],
    ['deepen-since ', 'invalid deepen-since '],
    ['done ', "unexpected line: 'done '"],
    ['nonsense', "unexpected line: 'nonsense'"],
    ['packfile-uris https', "unexpected line: 'packfile-uris https'"],
    ['filter sparse:oid=main:x', "filter 'sparse:oid=main:x' is not supported"],
    ['filter', "invalid filter-spec ''"],
  ])('refuses %j', async (line, message) => {
    await expect(readFetch(line)).rejects.toThrow(new ProtocolError(message))
  })

  it('refuses depth with a date, and two filters', async () => {
    await expect(readFetch('deepen 1', 'deepen-since 5')).rejects.toThrow('cannot be used together')
    await expect(readFetch('filter blob:none', 'filter tree:0')).rejects.toThrow('more than one filter')
  })

  it('refuses a request that is cut off in its arguments', async () => {
    const reader = readerOf(wire('command=fetch', 1, `want ${oid(1)}`))
    const command = (await readV2Command(reader))!
    await expect(readFetchRequest(reader, command)).rejects.toThrow('the request is cut off')
  })
})

describe('object-info', () => {
  const read = async (...lines: string[]) => {
    const reader = readerOf(wire('command=object-info', 1, ...lines, null))
    return readObjectInfoRequest(reader, (await readV2Command(reader))!)
  }

  it('tells sizes, and leaves the place of one that is absent empty', async () => {
    const request = await read('size', `oid ${oid(1)}\n`, `oid ${oid(2)}`)
    const sizes = new Map([
      [oid(1), 42],
      [oid(2), null],
    ])
    expect(text(encodeObjectInfo(request, sizes))).toBe(text(wire('size', `${oid(1)} 42`, `${oid(2)} `, null)))
  })

  it('tells that objects were asked for, and nothing of them, if nothing was', async () => {
    expect(text(encodeObjectInfo(await read(`oid ${oid(1)}`), new Map()))).toBe(text(wire(oid(1), null)))
  })

  it.each([
    ['type', "object-info: unexpected line: 'type'"],
    ['oid abc', "expected an object id after 'oid', got 'abc'"],
  ])('refuses %j', async (line, message) => {
    await expect(read(line)).rejects.toThrow(new ProtocolError(message))
  })
})
