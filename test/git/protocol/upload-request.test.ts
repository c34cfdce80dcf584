import { expect, it } from 'vitest'
import { ProtocolError } from '../../../git/protocol/protocol-error.ts'
import { readUploadRequest } from '../../../git/protocol/upload-request.ts'
import { oid, readerOf, wire } from './wire.ts'

it('reads wants, capabilities and haves', async () => {
  const bytes = wire(
    `want ${oid(1)} multi_ack_detailed side-band-64k agent=git/2.39.5\n`,
    `want ${oid(2)}\n`,
    null,
    `have ${oid(3)}\n`,
    `have ${oid(4)}\n`,
    null,
  )
  expect(await readUploadRequest(readerOf(bytes, 9))).toEqual({
    wants: [oid(1), oid(2)],
    capabilities: new Map([
      ['multi_ack_detailed', ''],
      ['side-band-64k', ''],
      ['agent', 'git/2.39.5'],
    ]),
    deepen: { shallow: [], depth: null, relative: false, since: null, not: [], filter: null },
    haves: [oid(3), oid(4)],
    done: false,
    asksForEnds: false,
  })
})

it('reads done, with or without capabilities', async () => {
  const request = await readUploadRequest(readerOf(wire(`want ${oid(1)}\n`, null, 'done\n')))
  expect(request).toMatchObject({ wants: [oid(1)], haves: [], done: true })
  expect(request.capabilities.size).toBe(0)
})

it('takes the end of the body for the end of a round', async () => {
  const request = await readUploadRequest(readerOf(wire(`want ${oid(1)}\n`, null, `have ${oid(2)}\n`)))
  expect(request).toMatchObject({ haves: [oid(2)], done: false })
})

it('reads what is asked of shallow history', async () => {
  const request = await readUploadRequest(
    readerOf(wire(`want ${oid(1)}`, `shallow ${oid(2)}`, 'deepen 1', null, 'done')),
  )
  expect(request.deepen).toMatchObject({ shallow: [oid(2)], depth: 1, relative: false })
})

it('takes deepen-relative for a capability, and no filter that was not negotiated', async () => {
  const request = await readUploadRequest(
    readerOf(wire(`want ${oid(1)} deepen-relative filter`, 'deepen 3', 'filter blob:none', null, 'done')),
  )
  expect(request.deepen).toMatchObject({ depth: 3, relative: true, filter: { blobLimit: 0 } })
  await expect(readUploadRequest(readerOf(wire(`want ${oid(1)}`, 'filter blob:none', null, 'done')))).rejects.toThrow(
    'filter was not negotiated',
  )
})

it('tells a body that ends after the wants from a round without haves', async () => {
  const ends = await readUploadRequest(readerOf(wire(`want ${oid(1)}`, 'deepen 1', null)))
  expect(ends).toMatchObject({ asksForEnds: true, haves: [], done: false })
  const round = await readUploadRequest(readerOf(wire(`want ${oid(1)}`, 'deepen 1', null, null)))
  expect(round).toMatchObject({ asksForEnds: false, haves: [], done: false })
})

it('takes a probe', async () => {
  expect(await readUploadRequest(readerOf('0000'))).toMatchObject({ wants: [], haves: [], done: false })
})

it.each([
  ['an empty body', '', 'the request is cut off'],
  ['garbage', 'GET / HTTP/1.1', 'line without a length in hex'],
  ['wants without an end', wire(`want ${oid(1)}\n`), 'the request is cut off'],
  ['a have among the wants', wire(`have ${oid(1)}\n`, null), `expected a want, got 'have ${oid(1)}'`],
  ['a want without an id', wire('want \n', null), "expected an object id after 'want', got ''"],
  ['a want among the haves', wire(`want ${oid(1)}`, null, `want ${oid(1)}`), `expected a have, got 'want ${oid(1)}'`],
  [
    'another hash',
    wire(`want ${oid(1)} object-format=sha256`, null),
    'mismatched object format: server sha1; client sha256',
  ],
])('refuses %s', async (_, bytes, message) => {
  const failure = readUploadRequest(readerOf(bytes))
  await expect(failure).rejects.toBeInstanceOf(ProtocolError)
  await expect(failure).rejects.toThrow(message)
})
