import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { basicAuth, readReport, receivePackRequest } from './wire.ts'

const world = await startWorld()
const { alice } = world

test('of six pushes to one branch at once exactly one wins, and the others are told to fetch first', async () => {
  const origin = await world.init()
  await origin.commit('base', { 'a.txt': 'a\n' })
  await origin.git('push', '--quiet', world.as(alice, 'race'), 'main')
  const racers = await Promise.all(Array.from({ length: 6 }, () => world.clone(world.as(alice, 'race'))))
  const heads = await Promise.all(racers.map((racer, n) => racer.commit(`racer ${n}`, { [`${n}.txt`]: `${n}\n` })))

  const results = await Promise.all(racers.map((racer) => racer.try('push', 'origin', 'main')))
  const winners = results.flatMap(({ status }, n) => (status === 0 ? [n] : []))
  expect(winners).toHaveLength(1)
  for (const { status, stderr } of results.filter(({ status }) => status !== 0)) {
    expect(status).toBe(1)
    expect(stderr).toMatch(/\[(remote )?rejected\] +main -> main \(.*fetch first.*\)/)
  }
  const winner = heads[winners[0] as number]
  expect(await origin.git('ls-remote', world.at(alice, 'race'), 'main')).toBe(`${winner}\trefs/heads/main`)

  // The account says the same as the mirror.
  await world.edge.wipe()
  expect(await origin.git('ls-remote', world.at(alice, 'race'), 'main')).toBe(`${winner}\trefs/heads/main`)
})

test('a push that lands while another is still sending its pack is not undone by it', async () => {
  const origin = await world.init()
  const base = await origin.commit('base', { 'a.txt': 'a\n' })
  await origin.git('push', '--quiet', world.as(alice, 'slow'), 'main')
  const slow = await world.clone(world.at(alice, 'slow'))
  const late = await slow.commit('late', { 'late.txt': 'late\n' })
  const pack = await slow.tryWith({ input: `${late}\n^${base}\n` }, 'pack-objects', '--quiet', '--stdout', '--revs')
  const request = receivePackRequest([{ name: 'refs/heads/main', from: base, to: late }], pack.output)

  const landed = Promise.withResolvers<void>()
  const answer = fetch(`${world.at(alice, 'slow')}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: basicAuth(alice), 'content-type': 'application/x-git-receive-pack-request' },
    body: new ReadableStream({
      async start(controller) {
        controller.enqueue(new Uint8Array(request.subarray(0, -10)))
        await landed.promise
        controller.enqueue(new Uint8Array(request.subarray(-10)))
        controller.close()
      },
    }),
    duplex: 'half',
  } as RequestInit)
  const head = await origin.commit('faster', { 'b.txt': 'b\n' })
  await origin.git('push', '--quiet', world.as(alice, 'slow'), 'main')
  landed.resolve()
  expect(readReport(Buffer.from(await (await answer).arrayBuffer()))).toEqual([
    'unpack ok',
    'ng refs/heads/main fetch first',
  ])
  expect(await origin.git('ls-remote', world.at(alice, 'slow'), 'main')).toBe(`${head}\trefs/heads/main`)
})

test('the losers of a race get through one after the other', async () => {
  const origin = await world.init()
  await origin.commit('base', { 'a.txt': 'a\n' })
  await origin.git('push', '--quiet', world.as(alice, 'patience'), 'main')
  const racers = await Promise.all(Array.from({ length: 3 }, () => world.clone(world.as(alice, 'patience'))))
  await Promise.all(racers.map((racer, n) => racer.commit(`racer ${n}`, { [`${n}.txt`]: `${n}\n` })))
  await Promise.all(
    racers.map(async (racer) => {
      // Each round has at least one winner.
      for (let round = 0; round < racers.length; round++) {
        if ((await racer.try('push', 'origin', 'main')).status === 0) return
        await racer.git('pull', '--quiet', '--rebase')
      }
      throw new Error('lost more rounds than there are others')
    }),
  )
  const clone = await world.clone(world.at(alice, 'patience'))
  expect(await clone.git('rev-list', '--count', 'HEAD')).toBe('4')
  await clone.fsck()
})

test('pushes to different branches at once all land', async () => {
  const origin = await world.init()
  await origin.commit('base', { 'a.txt': 'a\n' })
  await origin.git('push', '--quiet', world.as(alice, 'side-by-side'), 'main')
  const pushers = await Promise.all(Array.from({ length: 6 }, () => world.clone(world.as(alice, 'side-by-side'))))
  await Promise.all(pushers.map((pusher, n) => pusher.commit(`on ${n}`, { [`${n}.txt`]: `${n}\n` })))
  await Promise.all(pushers.map((pusher, n) => pusher.git('push', '--quiet', 'origin', `HEAD:branch-${n}`)))
  const listing = await origin.git('ls-remote', '--heads', world.at(alice, 'side-by-side'))
  expect(listing.split('\n')).toHaveLength(7)
  const clone = await world.clone(world.at(alice, 'side-by-side'))
  await clone.fsck()
})

test('of two pushes at once that create a branch and a branch below it one lands: git cannot have both', async () => {
  const origin = await world.init()
  await origin.commit('base', { 'a.txt': 'a\n' })
  await origin.git('push', '--quiet', world.as(alice, 'in-the-way'), 'main')
  const address = world.as(alice, 'in-the-way')
  for (let round = 0; round < 3; round++) {
    const results = await Promise.all([
      origin.try('push', address, `main:refs/heads/r${round}`),
      origin.try('push', address, `main:refs/heads/r${round}/below`),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual([0, 1])
    expect(results.find(({ status }) => status === 1)?.stderr).toMatch(/exists; cannot create/)
  }
  await (await world.clone(world.at(alice, 'in-the-way'))).fsck()
})

test('six pushes that create the same repository make one', async () => {
  const pushers = await Promise.all(Array.from({ length: 6 }, () => world.init()))
  await Promise.all(pushers.map((pusher, n) => pusher.commit(`on ${n}`, { [`${n}.txt`]: `${n}\n` })))
  const results = await Promise.all(
    pushers.map((pusher, n) => pusher.try('push', world.as(alice, 'one-name'), `HEAD:branch-${n}`)),
  )
  expect(results.filter(({ status }) => status === 0).length).toBeGreaterThanOrEqual(1)
  const records = await world.records(alice, 'dev.skein.repo')
  expect(records.filter(({ value }) => value.name === 'one-name')).toHaveLength(1)
  const landed = results.flatMap(({ status }, n) => (status === 0 ? [`refs/heads/branch-${n}`] : []))
  const listing = await (pushers[0] as (typeof pushers)[0]).git('ls-remote', '--heads', world.at(alice, 'one-name'))
  expect(listing.split('\n').map((line) => line.slice(41))).toEqual(landed)
})

test('a landing whose answer was lost is still reported as landed', async () => {
  const work = await world.init()
  await work.commit('first', { 'a.txt': 'a\n' })
  await work.git('push', '--quiet', world.as(alice, 'lost-answer'), 'main')
  const head = await work.commit('second', { 'b.txt': 'b\n' })
  world.atmosphere.loseNextAnswer('com.atproto.repo.applyWrites')
  await work.git('push', '--quiet', world.as(alice, 'lost-answer'), 'main')
  expect(await work.git('ls-remote', world.at(alice, 'lost-answer'), 'main')).toBe(`${head}\trefs/heads/main`)
})
