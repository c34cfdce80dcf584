import { describe, expect, it } from 'vitest'
import {
  cursorOfNow,
  cursorTrouble,
  InvalidUpstreamError,
  isClamped,
  laterCursor,
  parseUpstream,
  rewound,
  subscriptionUrl,
} from '../../../atproto/firehose/upstream.ts'

const NOW = 1_800_000_000_000
const RELAY = 'wss://relay.bsky.network/xrpc/com.atproto.sync.subscribeRepos'
const JETSTREAM = 'wss://jetstream2.us-east.bsky.network/subscribe'
const JETSTREAM_V2 = 'https://jetstream.us-east.bsky.network/xrpc/network.bsky.jetstream.subscribeEvents'

describe('the URL of an upstream', () => {
  it('says which protocol it speaks', () => {
    expect(parseUpstream(RELAY, false)).toEqual({
      name: RELAY,
      protocol: 'repos',
      origin: 'https://relay.bsky.network',
      beginAt: null,
    })
    expect(parseUpstream(JETSTREAM, false)).toMatchObject({ protocol: 'jetstream' })
    expect(parseUpstream(JETSTREAM_V2, false)).toMatchObject({ protocol: 'jetstream-v2' })
    expect(parseUpstream(`${RELAY}?cursor=0`, false)).toMatchObject({ beginAt: 0 })
  })

  it.each([
    'nothing',
    'wss://relay.bsky.network/',
    'ftp://relay.bsky.network/subscribe',
    'ws://relay.bsky.network/subscribe',
    'wss://localhost/subscribe',
    'wss://127.0.0.1/subscribe',
    'wss://[::1]/subscribe',
    'wss://user:password@relay.bsky.network/subscribe',
    `${RELAY}?cursor=-1`,
    `${RELAY}?cursor=now`,
  ])('is not %s', (text) => {
    expect(() => parseUpstream(text, false)).toThrow(InvalidUpstreamError)
  })

  it('may be a private one for local use', () => {
    expect(parseUpstream('ws://localhost:2583/subscribe', true)).toMatchObject({ origin: 'http://localhost:2583' })
  })

  it('becomes that of a subscription', () => {
    const url = (text: string, cursor: number | null) => subscriptionUrl(parseUpstream(text, false), cursor)
    expect(url(`${RELAY}?cursor=0`, 7)).toBe(`${RELAY.replace('wss', 'https')}?cursor=7`)
    expect(url(RELAY, null)).toBe(RELAY.replace('wss', 'https'))
    expect(url(JETSTREAM, 7)).toBe(
      'https://jetstream2.us-east.bsky.network/subscribe?wantedCollections=dev.skein.*&cursor=7',
    )
    expect(url(JETSTREAM_V2, 7)).toBe(`${JETSTREAM_V2}?collections=dev.skein.*&cursor=7`)
  })
})

describe('a cursor', () => {
  it('is rewound where a stream may reorder', () => {
    expect(rewound('repos', 5)).toBe(5)
    expect(rewound('jetstream', 1_700_000_000_000_000)).toBe(1_699_999_995_000_000)
    expect(rewound('jetstream-v2', 5000)).toBe(4000)
    expect(rewound('jetstream-v2', 5)).toBe(0)
    expect(rewound('jetstream-v2', 1_700_000_000_000_000)).toBe(1_699_999_995_000_000)
  })

  it('of now is a time where there is one', () => {
    expect(cursorOfNow('repos', NOW)).toBeNull()
    expect(cursorOfNow('jetstream', NOW)).toBe(NOW * 1000 - 5_000_000)
    expect(cursorOfNow('jetstream-v2', NOW)).toBe(NOW * 1000 - 5_000_000)
  })

  it('only moves on, but from the time at which a stream of numbers was begun', () => {
    expect(laterCursor('repos', null, 3)).toBe(3)
    expect(laterCursor('repos', 5, 3)).toBe(5)
    expect(laterCursor('jetstream', NOW * 1000, 3)).toBe(NOW * 1000)
    expect(laterCursor('jetstream-v2', NOW * 1000, 3)).toBe(3)
    expect(laterCursor('jetstream-v2', 3, 4)).toBe(4)
  })

  it('is outdated as each protocol says it', () => {
    const hour = 60 * 60 * 1_000_000
    expect(isClamped('jetstream', NOW * 1000, NOW * 1000 + 2 * hour)).toBe(true)
    expect(isClamped('jetstream', NOW * 1000, NOW * 1000 + hour / 2)).toBe(false)
    expect(isClamped('jetstream', null, NOW * 1000)).toBe(false)
    expect(isClamped('repos', 1, 1e9)).toBe(false)
    expect(['OutdatedCursor', 'CursorTooOld', 'FutureCursor', 'ConsumerTooSlow'].map(cursorTrouble)).toEqual([
      'outdated',
      'refused',
      'future',
      null,
    ])
  })
})
