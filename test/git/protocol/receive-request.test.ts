import { describe, expect, it } from 'vitest'
import { pktLine } from '../../../git/protocol/pkt-line.ts'
import { expectsPack, readReceiveRequest } from '../../../git/protocol/receive-request.ts'
import { encodeReport, reportVersion } from '../../../git/protocol/report-status.ts'
import { concat, oid, readerOf, text, wire } from './wire.ts'

const encoder = new TextEncoder()

describe('readReceiveRequest', () => {
  it('reads commands and leaves the pack', async () => {
    const bytes = wire(
      `${oid(0)} ${oid(1)} refs/heads/a b\0 report-status side-band-64k agent=git/2.39.5`,
      `${oid(1)} ${oid(0)} refs/heads/ünïcode\n`,
      null,
    )
    const reader = readerOf(concat([bytes, encoder.encode('PACK')]), 13)
    const request = await readReceiveRequest(reader)
    expect(request).toEqual({
      commands: [
        { old: oid(0), new: oid(1), name: encoder.encode('refs/heads/a b') },
        { old: oid(1), new: oid(0), name: encoder.encode('refs/heads/ünïcode') },
      ],
      capabilities: new Map([
        ['report-status', ''],
        ['side-band-64k', ''],
        ['agent', 'git/2.39.5'],
      ]),
      pushOptions: [],
      shallow: [],
    })
    expect(expectsPack(request)).toBe(true)
    const rest: Uint8Array[] = []
    for await (const chunk of reader.rest()) rest.push(chunk)
    expect(text(rest)).toBe('PACK')
  })

  it('keeps the bytes of a name that is not UTF-8', async () => {
    const name = Uint8Array.of(0x72, 0x2f, 0xff)
    const line = pktLine(concat([encoder.encode(`${oid(0)} ${oid(1)} `), name]))
    const request = await readReceiveRequest(readerOf(concat([line, wire(null)])))
    expect(request.commands[0]!.name).toEqual(name)
  })

  it('reads push options and shallow lines', async () => {
    const request = await readReceiveRequest(
      readerOf(
        wire(`shallow ${oid(7)}\n`, `${oid(1)} ${oid(0)} refs/heads/x\0push-options`, null, 'ci.skip', 'a=b c', null),
      ),
    )
    expect(request).toMatchObject({ pushOptions: ['ci.skip', 'a=b c'], shallow: [oid(7)] })
    expect(expectsPack(request)).toBe(false)
  })

  it('takes a probe', async () => {
    const request = await readReceiveRequest(readerOf('0000'))
    expect(request.commands).toEqual([])
    expect(expectsPack(request)).toBe(false)
  })

  it.each([
    ['an empty body', '', 'the request is cut off'],
    ['commands without an end', wire(`${oid(0)} ${oid(1)} refs/heads/x\0`), 'the request is cut off'],
    ['push options without an end', wire(`${oid(0)} ${oid(1)} r\0push-options`, null, 'x'), 'the request is cut off'],
    [
      'a signed push',
      wire('push-cert\0report-status\n', 'certificate version 0.1\n'),
      'signed pushes are not supported',
    ],
    ['a command without a name', wire(`${oid(0)} ${oid(1)} \0`, null), 'expected old and new object id and ref'],
    ['a command without ids', wire('refs/heads/x', null), 'expected old and new object id and ref'],
    ['an id that is none', wire(`${oid('g')} ${oid(1)} r`, null), "expected an object id after 'old'"],
    ['another hash', wire(`${oid(0)} ${oid(1)} r\0object-format=sha256`, null), 'mismatched object format'],
    [
      'too many push options',
      wire(`${oid(0)} ${oid(1)} r\0push-options`, null, ...Array(101).fill('x'), null),
      '100 push',
    ],
  ])('refuses %s', async (_, bytes, message) => {
    await expect(readReceiveRequest(readerOf(bytes))).rejects.toThrow(message)
  })
})

describe('encodeReport', () => {
  const report = {
    unpackError: null,
    commands: [
      { ok: true, name: 'refs/heads/a', oldOid: oid(1), newOid: oid(2), forcedUpdate: true },
      { ok: false, name: 'refs/heads/b', reason: 'fetch first' },
    ],
  } as const

  it('writes version 1', () => {
    expect(text(encodeReport(report, 1))).toBe(
      text(wire('unpack ok\n', 'ok refs/heads/a\n', 'ng refs/heads/b fetch first\n', null)),
    )
  })

  it('writes version 2', () => {
    expect(text(encodeReport(report, 2))).toBe(
      text(
        wire(
          'unpack ok\n',
          'ok refs/heads/a\n',
          `option old-oid ${oid(1)}\n`,
          `option new-oid ${oid(2)}\n`,
          'option forced-update\n',
          'ng refs/heads/b fetch first\n',
          null,
        ),
      ),
    )
  })

  it('keeps an error to one line', () => {
    expect(text(encodeReport({ unpackError: 'bad\npack\n', commands: [] }, 1))).toBe(
      text(wire('unpack bad pack\n', null)),
    )
  })

  it('is sent as the client asked', () => {
    expect(reportVersion(new Map([['report-status', '']]))).toBe(1)
    expect(
      reportVersion(
        new Map([
          ['report-status', ''],
          ['report-status-v2', ''],
        ]),
      ),
    ).toBe(2)
    expect(reportVersion(new Map())).toBeNull()
  })
})
