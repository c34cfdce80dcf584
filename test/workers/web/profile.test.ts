import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { blobCid } from '../../../atproto/records/blob-cid.ts'
import { pictureSize } from '../../../workers/web/profile/picture-size.ts'
import { pictureType } from '../../../workers/web/profile/picture-type.ts'
import { CachedProfiles } from '../../../workers/web/profile/profiles.ts'
import { profileOf } from '../../../workers/web/profile/read-profile.ts'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const cidOf = (bytes: Uint8Array) => blobCid(createHash('sha256').update(bytes).digest())
const CID = cidOf(PNG)
const ALICE = { did: 'did:plc:alice', pds: 'https://pds.test' }

/** An account's server, a cache, and what goes on after the answer. */
function stage(value: unknown, blob: Uint8Array | null = PNG) {
  const kept = new Map<string, string>()
  const later: Promise<unknown>[] = []
  const asked: string[] = []
  const profiles = new CachedProfiles({
    origin: 'https://edge.test',
    cache: {
      match: async (key) => (kept.has(String(key)) ? new Response(kept.get(String(key))) : undefined),
      put: async (key, response) => void kept.set(String(key), await response.text()),
    },
    client: () => ({
      getRecord: async () => {
        asked.push('record')
        if (value instanceof Error) throw value
        return value === null ? null : ({ uri: '', value } as never)
      },
      getBlob: async () => {
        asked.push('blob')
        return blob === null ? null : (new Blob([blob as Uint8Array<ArrayBuffer>]).stream() as never)
      },
    }),
    waitUntil: (work) => void later.push(work),
  })
  return { profiles, asked, later }
}

describe('the profile of an account', () => {
  it.each([
    ['not there', null],
    ['no object', 'x'],
    ['of wrong types', { displayName: 7, description: ['x'], avatar: { ref: { $link: '../../x' } } }],
    ['with a picture that is no blob', { avatar: { ref: { $link: `${CID.slice(0, -1)}/` } } }],
  ])('that is %s is empty', (_, value) => {
    expect(profileOf(value)).toEqual({ displayName: '', description: '', avatar: null })
  })

  it('is cut where it is long', () => {
    const { displayName, description } = profileOf({
      displayName: 'a\nb'.repeat(999),
      description: '\ud800'.repeat(9_999),
    })
    expect([displayName.length, description.length, displayName.includes('\n')]).toEqual([120, 1_000, false])
    expect(description.isWellFormed()).toBe(true)
  })

  it('is asked for once, and goes without where the account does not answer', async () => {
    const { profiles, asked, later } = stage({ displayName: ' Alice ' })
    expect((await profiles.of(ALICE)).displayName).toBe('Alice')
    await Promise.all(later)
    await profiles.of(ALICE)
    expect(asked).toEqual(['record'])
    const down = stage(new Error('down'))
    expect(await down.profiles.of(ALICE)).toEqual({ displayName: '', description: '', avatar: null })
  })
})

describe('its picture', () => {
  const avatar = { ref: { $link: CID } }

  it('is the one that the profile names, and no other blob of the account', async () => {
    const { profiles, asked } = stage({ avatar })
    expect(await profiles.avatar(ALICE, CID)).toEqual({ type: 'image/png', bytes: PNG })
    expect(await profiles.avatar(ALICE, cidOf(new Uint8Array(1)))).toBeNull()
    expect(asked.filter((what) => what === 'blob')).toHaveLength(1)
  })

  it.each([
    ['gone', null],
    ['other bytes', new Uint8Array([...PNG, 4])],
  ])('is none where it is %s', async (_, blob) => {
    expect(await stage({ avatar }, blob).profiles.avatar(ALICE, CID)).toBeNull()
  })

  it.each([
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', null],
    ['<!doctype html><script>alert(1)</script>', null],
    ['', null],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF\0\0\0\0WEBP', 'image/webp'],
    ['RIFF\0\0\0\0WAVE', null],
    ['\0\0\0\x20ftypavif', 'image/avif'],
  ])('%j is of the type %s', (text, type) => {
    expect(pictureType(Buffer.from(text, 'latin1'))).toBe(type)
  })
})

describe('its size in points', () => {
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

  it.each([
    ['image/png', '89504e470d0a1a0a 0000000d 49484452 00007530 00007530', { width: 30_000, height: 30_000 }],
    ['image/gif', '474946383961 2c01 c800', { width: 300, height: 200 }],
    ['image/jpeg', 'ffd8 ffe0 0004 0000 ffff c0 0011 08 00c8 012c', { width: 300, height: 200 }],
    ['image/jpeg', 'ffd8 ffda 0004 0000 00', null],
    ['image/webp', '52494646 00000000 57454250 56503820 00000000 000000 9d012a 2c01 c800', { width: 300, height: 200 }],
    ['image/webp', '52494646 00000000 57454250 5650384c 00000000 2f 2bc13100', { width: 300, height: 200 }],
    ['image/webp', '52494646 00000000 57454250 56503858 0a000000 00000000 2b0100 c70000', { width: 300, height: 200 }],
    ['image/png', '89504e470d0a1a0a', null],
    ['image/avif', '00000020', null],
  ])('of %s %s is %j', (type, bytes, size) => {
    expect(pictureSize(hex(bytes), type)).toEqual(size)
  })
})
