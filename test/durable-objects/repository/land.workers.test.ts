import { env, runInDurableObject } from 'cloudflare:test'
import { expect, test } from 'vitest'
import type { Environment } from '../../../durable-objects/environment.ts'
import type { Landed } from '../../../durable-objects/repository/answers.ts'
import type { Repository } from '../../../durable-objects/repository/repository.ts'

const ADDRESS = { did: 'did:plc:abcdefghijklmnopqrstuvwx', rkey: '3lzkoq5qq2s2a', pds: 'https://pds.test' }

function landed(change: Partial<Landed>): Landed {
  return { record: null, pack: null, states: [], head: null, headNeeds: [], ...change }
}

function created(name: string) {
  return { name, target: '1'.repeat(40), peeled: null, seq: 1, pack: null, at: { kind: 'loose' as const } }
}

test('a head that others have moved is taken over when what came with it is here', async () => {
  const { REPOSITORY } = env as unknown as Environment
  const stub = REPOSITORY.get(REPOSITORY.idFromName('of three pushes at once'))
  await runInDurableObject(stub, (mirror: Repository) => {
    const record = {
      name: 'app',
      defaultBranch: 'main',
      objectFormat: 'sha1' as const,
      createdAt: '2026-11-30T12:00:00Z',
    }
    mirror.land(ADDRESS, landed({ record, head: 1 }))
    const names = ['refs/heads/a', 'refs/heads/b', 'refs/heads/c']
    const heads = names.map((name) => {
      const headNeeds = names.filter((other) => other !== name).map((other) => ({ name: other, seq: 1 }))
      mirror.land(ADDRESS, landed({ states: [created(name)], head: 2, headNeeds }))
      return mirror.writerView([]).head
    })
    expect(heads).toEqual([1, 1, 2])
  })
})
