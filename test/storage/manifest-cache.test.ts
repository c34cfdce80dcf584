import { expect, test } from 'vitest'
import { type KeptManifest, ManifestCache } from '../../storage/manifest-cache.ts'
import { RefList } from '../../storage/ref-list.ts'
import { oid } from '../git/protocol/wire.ts'

const DID = 'did:plc:alice'

const ref = (_: unknown, i: number) => ({ name: `refs/heads/${i}`, target: oid(1), peeled: null })

function manifest(rkey: string, refs: number | null, version = 1): KeptManifest {
  return {
    base: { did: DID, rkey, name: rkey, description: null, defaultBranch: 'main', version, packs: [] },
    refs: refs === null ? null : RefList.of(Array.from({ length: refs }, ref)),
  }
}

const kept = (cache: ManifestCache, ...rkeys: string[]) =>
  rkeys.map((rkey) => cache.get(DID, rkey)?.base.version ?? null)

test('the newest manifest of a repository is kept', () => {
  const cache = new ManifestCache()
  expect(cache.get(DID, 'a')).toBe(null)
  cache.keep(manifest('a', 3))
  cache.keep(manifest('a', 4, 2))
  expect(kept(cache, 'a', 'b')).toEqual([2, null])
  // An answer that was overtaken.
  cache.keep(manifest('a', 3))
  expect(kept(cache, 'a')).toEqual([2])
})

test('refs are kept until there is a version of which they are not known', () => {
  const cache = new ManifestCache()
  const refs = () => cache.get(DID, 'a')!.refs?.held ?? null
  cache.keep(manifest('a', null))
  cache.keep(manifest('a', 3))
  expect(refs()).toBe(3)
  cache.keep(manifest('a', null))
  expect(refs()).toBe(3)
  cache.keep(manifest('a', null, 2))
  expect(refs()).toBe(null)
})

test('many refs push out the manifests that were not asked for longest', () => {
  const cache = new ManifestCache(300)
  for (const rkey of ['a', 'b', 'c']) cache.keep(manifest(rkey, 60))
  cache.get(DID, 'a')
  cache.keep(manifest('d', 60))
  expect(kept(cache, 'a', 'b', 'c', 'd')).toEqual([1, null, 1, 1])
  // A repository that grows is counted as it is now.
  cache.keep(manifest('d', 5, 2))
  cache.keep(manifest('e', 40))
  expect(kept(cache, 'a', 'c', 'd', 'e')).toEqual([1, 1, 2, 1])
})

test('one that is larger than all the room is kept alone', () => {
  const cache = new ManifestCache(100)
  cache.keep(manifest('a', 10))
  cache.keep(manifest('large', 1000))
  expect(kept(cache, 'a', 'large')).toEqual([null, 1])
  cache.keep(manifest('b', 10))
  expect(kept(cache, 'large', 'b')).toEqual([null, 1])
})
