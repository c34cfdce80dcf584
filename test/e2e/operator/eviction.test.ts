import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Repository } from '../../../durable-objects/repository/repository.ts'
import { startWorld } from '../harness.ts'
import { randomBytes } from '../history.ts'
import { edgeWith } from './edge-with.ts'

const world = await startWorld()
const { alice } = world
const VARS = { EVICT_AFTER_DAYS: '30' }
const DAY = 24 * 60 * 60_000

/** Has all mirrors of an edge that is stopped be used so long ago. */
function age(stateDirectory: string, milliseconds: number): number {
  let aged = 0
  for (const file of globSync('v3/do/**/*.sqlite', { cwd: stateDirectory })) {
    using database = new DatabaseSync(join(stateDirectory, file))
    const tables = database.prepare("select 1 from sqlite_master where name = 'standing'").all()
    if (tables.length === 0) continue
    aged += Number(database.prepare('update standing set used_at = used_at - ?').run(milliseconds).changes)
  }
  return aged
}

test('a mirror that nobody has used for so many days is dropped, and the next reader brings it back', async () => {
  const stateDirectory = await world.directory()
  const first = await edgeWith(world, VARS, stateDirectory)
  const work = await world.init()
  await work.commit('first', { 'a.bin': randomBytes(300_000, 1), 'b.txt': 'b\n' })
  await work.git('push', '--quiet', first.as(alice, 'unread'), 'main')
  await work.git('clone', '--quiet', '--bare', first.at(alice, 'unread'), 'warm.git')
  const rkey = (await world.records(alice, 'dev.skein.repo'))[0]!.uri.split('/').at(-1)!
  const name = `${alice.did}/${rkey}`
  const key = { did: alice.did, rkey }
  const rows = async (edge: typeof first) => {
    const { results } = await (await edge.database()).prepare('select bytes from mirrors').all<{ bytes: number }>()
    return results.map(({ bytes }) => bytes > 300_000)
  }
  await (await first.object<Repository>('REPOSITORY', name)).dropIfUnused(key)
  const warm = await world.pdsRequestsDuring(() => work.git('ls-remote', first.at(alice, 'unread')))
  expect(warm).toEqual([])
  await first.close()

  expect(age(stateDirectory, 29 * DAY)).toBe(1)
  const second = await edgeWith(world, VARS, stateDirectory)
  await (await second.object<Repository>('REPOSITORY', name)).dropIfUnused(key)
  await second.close()
  expect(age(stateDirectory, 2 * DAY)).toBe(1)

  const third = await edgeWith(world, VARS, stateDirectory)
  await (await third.object<Repository>('REPOSITORY', name)).dropIfUnused(key)
  expect(await rows(third)).toEqual([])
  const requests = await world.pdsRequestsDuring(async () => {
    await work.git('clone', '--quiet', '--bare', third.at(alice, 'unread'), 'back.git')
  })
  expect(requests.filter(({ path }) => path.endsWith('getBlob'))).toHaveLength(1)
  expect(await work.git('--git-dir', 'back.git', 'rev-parse', 'main')).toBe(await work.resolve('main'))
  await work.git('--git-dir', 'back.git', 'fsck', '--strict')
  await work.commit('second', { 'b.txt': 'c\n' })
  await work.git('push', '--quiet', third.as(alice, 'unread'), 'main')
  await work.git('--git-dir', 'back.git', 'fetch', '--quiet', 'origin', 'main')
  expect(await work.git('--git-dir', 'back.git', 'rev-parse', 'FETCH_HEAD')).toBe(await work.resolve('main'))
})
