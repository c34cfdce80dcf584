import { describe, expect, it } from 'vitest'
import type { Oid } from '../../../git/bytes/oid.ts'
import type { FetchRequest } from '../../../git/protocol/fetch-request.ts'
import { type NegotiationStore, negotiateV0, negotiateV2, type Round } from '../../../git/protocol/negotiation.ts'
import { PktLineWriter } from '../../../git/protocol/pkt-line-writer.ts'
import type { UploadRequest } from '../../../git/protocol/upload-request.ts'
import { oid, text, wire } from './wire.ts'

const [WANT, KNOWN, ALSO_KNOWN, UNKNOWN] = [oid(1), oid(2), oid(3), oid('f')]
const deepen = { shallow: [], depth: null, relative: false, since: null, not: [], filter: null }

function store(enough: (commons: readonly Oid[]) => boolean): NegotiationStore {
  return { has: (id) => id !== UNKNOWN, canGiveUp: enough }
}
const never = store(() => false)
const always = store(() => true)

function lines(round: Round): string {
  const writer = new PktLineWriter()
  round.write(writer)
  return text(writer.takeAll())
}

describe('v2', () => {
  const request = (change: Partial<FetchRequest>): FetchRequest => ({
    wants: [WANT],
    wantRefs: [],
    haves: [],
    done: false,
    waitForDone: false,
    thinPack: false,
    noProgress: false,
    includeTag: false,
    ofsDelta: false,
    sidebandAll: false,
    deepen,
    ...change,
  })

  it('sends the pack at once to a clone', () => {
    const round = negotiateV2(request({ done: true }), never)
    expect(round).toMatchObject({ commons: [], sendsPack: true })
    expect(lines(round)).toBe('')
  })

  it('acknowledges, is ready and sends the pack in one answer', () => {
    const round = negotiateV2(request({ haves: [UNKNOWN, KNOWN] }), always)
    expect(round).toMatchObject({ commons: [KNOWN], sendsPack: true })
    expect(lines(round)).toBe(text(wire('acknowledgments\n', `ACK ${KNOWN}\n`, 'ready\n', 1)))
  })

  it('asks on while a want has nothing in common', () => {
    const round = negotiateV2(request({ haves: [KNOWN, ALSO_KNOWN] }), never)
    expect(round.sendsPack).toBe(false)
    expect(lines(round)).toBe(text(wire('acknowledgments\n', `ACK ${KNOWN}\n`, `ACK ${ALSO_KNOWN}\n`, null)))
  })

  it('answers NAK to haves that it does not know', () => {
    const round = negotiateV2(request({ haves: [UNKNOWN] }), always)
    expect(round.sendsPack).toBe(false)
    expect(lines(round)).toBe(text(wire('acknowledgments\n', 'NAK\n', null)))
  })

  it('sends no acknowledgments after done', () => {
    const round = negotiateV2(request({ haves: [KNOWN, UNKNOWN], done: true }), never)
    expect(round).toMatchObject({ commons: [KNOWN], sendsPack: true })
    expect(lines(round)).toBe('')
  })

  it('is never ready for a client that waits for done', () => {
    const round = negotiateV2(request({ wants: [], haves: [KNOWN], waitForDone: true }), always)
    expect(round.sendsPack).toBe(false)
    expect(lines(round)).toBe(text(wire('acknowledgments\n', `ACK ${KNOWN}\n`, null)))
  })

  it('answers nothing to a request that wants nothing', () => {
    const round = negotiateV2(request({ wants: [], done: true }), always)
    expect(round.sendsPack).toBe(false)
    expect(lines(round)).toBe('')
  })
})

describe('v0', () => {
  const request = (capabilities: string, haves: Oid[], done = false): UploadRequest => ({
    wants: [WANT],
    capabilities: new Map(capabilities.split(' ').map((name) => [name, ''])),
    deepen,
    haves,
    done,
    asksForEnds: false,
  })

  it('says nothing yet to a client that only asks where its history will end', () => {
    const round = negotiateV0({ ...request('multi_ack_detailed', []), asksForEnds: true }, never)
    expect(round.sendsPack).toBe(false)
    expect(lines(round)).toBe('')
  })

  it.each<[string, UploadRequest, NegotiationStore, string[], boolean]>([
    ['clone', request('multi_ack_detailed', [], true), never, ['NAK'], true],
    ['no haves yet', request('multi_ack_detailed', []), never, ['NAK'], false],
    ['unknown haves', request('multi_ack_detailed', [UNKNOWN]), always, ['NAK'], false],
    ['common, not enough', request('multi_ack_detailed', [KNOWN]), never, [`ACK ${KNOWN} common`, 'NAK'], false],
    [
      'common and enough, all known',
      request('multi_ack_detailed', [KNOWN]),
      always,
      [`ACK ${KNOWN} common`, `ACK ${KNOWN} ready`, 'NAK'],
      false,
    ],
    [
      'common and enough, with no-done',
      request('multi_ack_detailed no-done', [KNOWN]),
      always,
      [`ACK ${KNOWN} common`, `ACK ${KNOWN} ready`, 'NAK', `ACK ${KNOWN}`],
      true,
    ],
    [
      'common, then unknown, and enough',
      request('multi_ack_detailed', [KNOWN, UNKNOWN]),
      always,
      [`ACK ${KNOWN} common`, `ACK ${UNKNOWN} ready`, 'NAK'],
      false,
    ],
    [
      'done after commons',
      request('multi_ack_detailed', [KNOWN, ALSO_KNOWN], true),
      never,
      [`ACK ${KNOWN} common`, `ACK ${ALSO_KNOWN} common`, `ACK ${ALSO_KNOWN}`],
      true,
    ],
    ['multi_ack', request('multi_ack', [KNOWN]), always, [`ACK ${KNOWN} continue`, 'NAK'], false],
    [
      'multi_ack, unknown after enough',
      request('multi_ack', [KNOWN, UNKNOWN]),
      always,
      [`ACK ${KNOWN} continue`, `ACK ${UNKNOWN} continue`, 'NAK'],
      false,
    ],
    ['multi_ack, done', request('multi_ack', [KNOWN], true), never, [`ACK ${KNOWN} continue`, `ACK ${KNOWN}`], true],
    ['no multi_ack', request('ofs-delta', [KNOWN, ALSO_KNOWN]), always, [`ACK ${KNOWN}`], false],
    ['no multi_ack, unknown', request('ofs-delta', [UNKNOWN]), always, ['NAK'], false],
    ['no multi_ack, done', request('ofs-delta', [KNOWN], true), always, [`ACK ${KNOWN}`], true],
    ['no multi_ack, done, unknown', request('ofs-delta', [UNKNOWN], true), always, ['NAK'], true],
  ])('%s', (_, asked, repository, answer, sendsPack) => {
    const round = negotiateV0(asked, repository)
    expect(lines(round)).toBe(text(wire(...answer.map((line) => `${line}\n`))))
    expect(round.sendsPack).toBe(sendsPack)
  })

  it('asks once per new common whether it is enough', () => {
    let asked = 0
    const haves = [KNOWN, ...Array<Oid>(1000).fill(UNKNOWN)]
    negotiateV0(
      request('multi_ack_detailed', haves),
      store(() => {
        asked++
        return false
      }),
    )
    expect(asked).toBe(1)
  })

  it('does not ask after each of thousands of haves, and still sees in the end that it is enough', () => {
    let asked = 0
    const known = Array.from({ length: 5000 }, (_, i) => i.toString(16).padStart(40, '0'))
    const round = negotiateV0(
      request(
        'multi_ack_detailed no-done',
        known.flatMap((id) => [id, UNKNOWN]),
      ),
      store((commons) => {
        asked++
        return commons.length === known.length
      }),
    )
    expect(asked).toBeLessThan(20)
    expect(round.sendsPack).toBe(true)
    expect(lines(round)).toContain(`ACK ${known.at(-1)} ready\n`)
  })

  it('answers nothing to a request that wants nothing', () => {
    const round = negotiateV0({ ...request('multi_ack', [KNOWN]), wants: [] }, always)
    expect(round.sendsPack).toBe(false)
    expect(lines(round)).toBe('')
  })
})
