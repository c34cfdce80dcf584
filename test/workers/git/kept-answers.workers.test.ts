import { describe, expect, it } from 'vitest'
import { COMMIT } from '../../../git/object/object-type.ts'
import { NO_REFS } from '../../../git/refs/ref-selection.ts'
import { NO_FILTER } from '../../../git/walk/object-filter.ts'
import type { Manifest } from '../../../storage/manifest.ts'
import type { FetchForm } from '../../../workers/git/fetch-form.ts'
import { type AnswerCache, answerName, isAskedByOthers, KeptAnswers } from '../../../workers/git/kept-answers.ts'

const ORIGIN = 'https://edge.test'
const LIMITS = { largest: 1000, patience: 5_000 }

function open(cache: AnswerCache = caches.default, limits = LIMITS) {
  const work: Promise<unknown>[] = []
  const answers = new KeptAnswers(cache, ORIGIN, (promise) => void work.push(promise), limits)
  return { answers, settled: () => Promise.all(work) }
}

/** Nothing is to be put into it. */
const noCache: AnswerCache = {
  match: async () => undefined,
  put: () => {
    throw new Error('nothing was to be kept')
  },
}

async function* chunksOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text)
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += new TextDecoder().decode(chunk)
  return text
}

describe('keeping answers', () => {
  it('passes an answer on and gives it to whoever asks next', async () => {
    const { answers, settled } = open()
    expect(await answers.find('whole')).toBeNull()
    expect(await textOf(answers.keep('whole', chunksOf('one ', 'two ', 'three'), () => true))).toBe('one two three')
    await settled()
    expect(await textOf((await answers.find('whole'))!)).toBe('one two three')
    expect(await answers.find('other')).toBeNull()
  })

  it('does not keep what the client has not taken to its end', async () => {
    const { answers, settled } = open()
    for await (const _ of answers.keep('left', chunksOf('one', 'two'), () => true)) break
    await settled()
    expect(await answers.find('left')).toBeNull()
  })

  it('does not keep an answer that failed, and passes the failure on', async () => {
    const { answers, settled } = open()
    async function* failing() {
      yield* chunksOf('one')
      throw new Error('R2 is on fire')
    }
    await expect(textOf(answers.keep('failed', failing(), () => true))).rejects.toThrow('R2 is on fire')
    await settled()
    expect(await answers.find('failed')).toBeNull()
  })

  it('does not keep what was made of something else than its name', async () => {
    const { answers, settled } = open()
    expect(await textOf(answers.keep('unsound', chunksOf('one'), () => false))).toBe('one')
    await settled()
    expect(await answers.find('unsound')).toBeNull()
  })

  it('does not keep what is too large, and passes all of it on', async () => {
    const { answers, settled } = open()
    const parts = ['a'.repeat(600), 'b'.repeat(600), 'c'.repeat(600)]
    expect(await textOf(answers.keep('large', chunksOf(...parts), () => true))).toBe(parts.join(''))
    await settled()
    expect(await answers.find('large')).toBeNull()
    const { answers: later } = open(noCache)
    expect(await textOf(later.keep('large', chunksOf(...parts), () => true))).toBe(parts.join(''))
  })

  it('makes no second copy while one is on its way', async () => {
    const { answers, settled } = open()
    const first = answers.keep('twice', chunksOf('one ', 'two'), () => true)
    await first.next()
    const { answers: other } = open(noCache)
    expect(await textOf(other.keep('twice', chunksOf('one ', 'two'), () => true))).toBe('one two')
    expect(await textOf(first)).toBe('two')
    await settled()
    expect(await textOf((await answers.find('twice'))!)).toBe('one two')
  })

  it('asks the cache once for what it has seen, and again where that is gone', async () => {
    const asked: string[] = []
    let dropped = ''
    const cache: AnswerCache = {
      put: (url, response) => caches.default.put(url, response),
      match: async (url) => {
        asked.push(String(url))
        return url === dropped ? undefined : caches.default.match(url)
      },
    }
    const { answers, settled } = open(cache)
    await textOf(answers.keep('seen', chunksOf('old'), () => true))
    await settled()
    expect(await textOf((await answers.find('seen'))!)).toBe('old')
    expect(asked).toHaveLength(1)

    dropped = asked.pop()!
    expect(await answers.find('seen')).toBeNull()
    await textOf(answers.keep('seen', chunksOf('new'), () => true))
    await settled()
    expect(await textOf((await answers.find('seen'))!)).toBe('new')
  })

  it('finds nothing where the cache fails', async () => {
    const match = () => Promise.reject(new Error('too many subrequests'))
    const { answers } = open({ match, put: async () => undefined })
    expect(await answers.find('whole')).toBeNull()
  })

  it.each<[string, AnswerCache['put']]>([
    ['takes nothing, without a word', async () => undefined],
    ['refuses', async () => Promise.reject(new Error('no room'))],
    [
      'gives up in the middle',
      async (_, response) => {
        await response.body!.getReader().read()
        throw new Error('disk full')
      },
    ],
    ['never reads', () => new Promise<void>(() => undefined)],
  ])('does not hold up the client where the cache %s', async (_, put) => {
    const { answers } = open({ match: async () => undefined, put }, { ...LIMITS, patience: 10 })
    expect(await textOf(answers.keep(`unkept ${put}`, chunksOf('one ', 'two ', 'three'), () => true))).toBe(
      'one two three',
    )
  })
})

describe('the name of an answer', () => {
  const deepen = { shallow: [], depth: null, relative: false, since: null, not: [], filter: null }
  const clone: FetchForm = {
    protocol: 2,
    done: true,
    wants: ['a'.repeat(40), 'b'.repeat(40)],
    wantRefs: [],
    namedRefs: NO_REFS,
    haves: [],
    deepen,
    thinPack: true,
    ofsDelta: true,
    includeTag: false,
    noProgress: false,
    bandLimit: 65515,
    isBandedFromStart: false,
    constantHead: null,
    negotiate: () => {
      throw new Error('not called')
    },
    encodeHead: () => [],
  }
  const manifest: Manifest = {
    did: 'did:plc:alice',
    rkey: 'app',
    name: 'app',
    description: null,
    defaultBranch: 'main',
    version: 1,
    packs: [],
    refs: [
      { name: 'refs/heads/main', target: 'a'.repeat(40), peeled: null },
      { name: 'refs/heads/side', target: 'a'.repeat(40), peeled: null },
    ],
  }
  const name = (change: Partial<FetchForm> = {}, changed: Partial<Manifest> = {}) =>
    answerName({ ...clone, ...change }, { ...manifest, ...changed })

  it('is the same for the same question', () => {
    expect(name()).toMatch(/^[0-9a-f]{64}$/)
    expect(name({ wants: [...clone.wants].reverse(), thinPack: false }, { version: 2, refs: [] })).toBe(name())
    const wantRefs = ['refs/heads/main']
    expect(name({ wantRefs }, { version: 2, refs: manifest.refs.slice(0, 1) })).toBe(name({ wantRefs }))
  })

  it('is another for another question', () => {
    const names = [
      name(),
      name({ wants: clone.wants.slice(1) }),
      name({ protocol: 0 }),
      name({ ofsDelta: false }),
      name({ noProgress: true }),
      name({ bandLimit: 995 }),
      name({ bandLimit: null }),
      name({ isBandedFromStart: true }),
      name({ includeTag: true }),
      name({ includeTag: true }, { version: 2 }),
      name({ wantRefs: ['refs/heads/main'] }),
      name({ wantRefs: ['refs/heads/side'] }),
      name({ wantRefs: ['HEAD'] }),
      name({ wantRefs: ['HEAD'] }, { refs: [{ ...manifest.refs[0]!, target: 'c'.repeat(40) }] }),
      name({ deepen: { ...deepen, depth: 1 } }),
      name({ deepen: { ...deepen, depth: 1, relative: true } }),
      name({ deepen: { ...deepen, since: 1 } }),
      name({ deepen: { ...deepen, filter: NO_FILTER } }),
      name({ deepen: { ...deepen, filter: { ...NO_FILTER, types: new Set([COMMIT]) } } }),
      name({ deepen: { ...deepen, filter: { ...NO_FILTER, blobLimit: 0 } } }),
      name({ deepen: { ...deepen, filter: { ...NO_FILTER, treeDepth: 0 } } }),
      name({}, { rkey: 'other' }),
      name({}, { did: 'did:plc:bob' }),
    ]
    expect(new Set(names).size).toBe(names.length)
  })

  it('is none where a ref is not there', () => {
    expect(name({ wantRefs: ['refs/heads/gone'] })).toBeNull()
  })

  it('is asked for only where the answer depends on nothing that this client has, and on no refs that are to be left out', () => {
    const asked = (change: Partial<FetchForm>) => isAskedByOthers({ ...clone, ...change })
    expect(asked({})).toBe(true)
    expect(asked({ deepen: { ...deepen, depth: 1, filter: NO_FILTER } })).toBe(true)
    expect(asked({ haves: ['c'.repeat(40)] })).toBe(false)
    expect(asked({ done: false })).toBe(false)
    expect(asked({ deepen: { ...deepen, shallow: ['c'.repeat(40)] } })).toBe(false)
    expect(asked({ deepen: { ...deepen, not: ['refs/heads/old'] } })).toBe(false)
  })
})
