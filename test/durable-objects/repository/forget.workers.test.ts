import { env, runInDurableObject } from 'cloudflare:test'
import { afterEach, expect, test, vi } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import type { Repository } from '../../../durable-objects/repository/repository.ts'
import { BLOB } from '../../../git/object/object-type.ts'
import { MirrorStore } from '../../../storage/mirror/mirror-store.ts'
import { packKeys, repositoryPrefix } from '../../../storage/packs/pack-keys.ts'
import { buildPack, objectEntry, utf8 } from '../../git/pack/pack-builder.ts'
import { DID, head } from '../../storage/mirror/in-mirror.ts'

afterEach(() => vi.unstubAllGlobals())

test('what is put into R2 after the repository was deleted is deleted too', async () => {
  const { PACKS, REPOSITORY } = env as unknown as Environment
  const address = { did: DID, rkey: '3lzkoq5qq2zzz', pds: 'https://pds.example.com' }
  // The account has nothing of it any more.
  vi.stubGlobal('fetch', async (url: string) =>
    new URL(url).pathname.endsWith('getRecord')
      ? Response.json({ error: 'RecordNotFound', message: 'Could not locate record' }, { status: 400 })
      : Response.json({ records: [] }),
  )
  const pack = buildPack([objectEntry(BLOB, utf8('hello\n'))])
  const id = '3lzkosecbps2a'
  await PACKS.put(packKeys(DID, address.rkey, id).pack, pack)
  const keys = async () => (await PACKS.list({ prefix: repositoryPrefix(DID, address.rkey) })).objects
  const stub = REPOSITORY.get(REPOSITORY.idFromName(`${DID}/${address.rkey}`))
  await runInDurableObject(stub, async (instance: Repository, state) => {
    const store = new MirrorStore(state.storage)
    store.setHead(head(address))
    store.wantPack({ id, size: pack.length, objects: 1 }, { blobs: null, replaces: [] })
    const outcomes: string[] = []
    const bucket = new Proxy(PACKS, {
      get(target, name) {
        if (name !== 'put') return (Reflect.get(target, name) as () => unknown).bind(target)
        return async (...args: Parameters<R2Bucket['put']>) => {
          if (outcomes.length === 0) outcomes.push((await instance.refresh(address)).state)
          return target.put(...args)
        }
      },
    })
    Object.assign(instance, { env: { ...env, PACKS: bucket } })
    const news = await new Response(instance.ingest(address)).text()
    expect([outcomes[0], news]).toEqual(['gone', expect.stringContaining('done')])
    await vi.waitFor(async () => expect(await keys()).toEqual([]), { timeout: 5000 })
    expect(store.head()).toBe(null)
  })
})
