import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { startWorld } from './harness.ts'
import { type HostileAccount, sendJson, startHostileAccount } from './hostile-account.ts'

// Accounts whose servers mean harm: they get an answer in words, and nobody else waits.
const world = await startWorld()
const { alice } = world
const work = await world.init()
const head = await work.commit('base', { 'a.txt': 'a\n' })
await work.git('push', '--quiet', world.as(alice, 'app'), 'main')
const pack = (await work.tryWith({ input: `${head}\n` }, 'pack-objects', '--revs', '--stdout', '--quiet')).output

async function startAccount(): Promise<HostileAccount> {
  const account = await startHostileAccount()
  // It claims to replace itself, in all tests.
  account.addPack(pack, { replaces: [account.packKey] })
  account.addRef('refs/heads/main', head)
  return account
}

const NESTED = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`

/** A list that goes on for ever: a hundred records a page, each with a key after the last. */
function endless(uri: string, value: object) {
  let listed = 0
  return (_: URLSearchParams, response: ServerResponse) => {
    const records = Array.from({ length: 100 }, () => ({ uri: `${uri}${String(listed++).padStart(12, '0')}`, value }))
    sendJson(response, { records, cursor: records.at(-1)?.uri.split('/').at(-1) })
  }
}

const attacks: [string, (account: HostileAccount) => void, RegExp][] = [
  [
    'a list of repositories without end',
    ({ did, answer }) => answer('dev.skein.repo', endless(`at://${did}/dev.skein.repo/k`, {})),
    /the list of records does not end/,
  ],
  [
    'a list of refs without end',
    ({ did, answer }) => answer('dev.skein.ref', endless(`at://${did}/dev.skein.ref/3lzkoq5qq2s2a:`, {})),
    /the list of records does not end/,
  ],
  [
    'a list that starts again',
    ({ did, answer }) =>
      answer('dev.skein.ref', (_, response) =>
        sendJson(response, {
          records: Array.from({ length: 100 }, () => ({
            uri: `at://${did}/dev.skein.ref/3lzkoq5qq2s2a:x:1`,
            value: {},
          })),
          cursor: '3lzkoq5qq2s2a:x:1',
        }),
      ),
    /the list of records does not end/,
  ],
  [
    'a list larger than memory',
    ({ answer }) =>
      answer('dev.skein.ref', (_, response) => {
        const spaces = Buffer.alloc(1024 * 1024, ' ')
        const write = () => {
          while (response.write(spaces));
          response.once('drain', write)
        }
        write()
      }),
    /ResponseTooLarge/,
  ],
  [
    'a redirect to somewhere inside',
    ({ answer }) =>
      answer('dev.skein.ref', (_, response) => {
        response.writeHead(302, { location: `${world.atmosphere.pdsUrl}/xrpc/_health` })
        response.end()
      }),
    /answered 302/,
  ],
  ['garbage', ({ answer }) => answer('dev.skein.ref', (_, response) => void response.end('\0\xff{')), /no JSON/],
]

test.each(attacks)('%s', async (_, attack, words) => {
  await using account = await startAccount()
  attack(account)
  const { status, stderr } = await work.try('ls-remote', `${world.edge.url}${account.path}`)
  expect(status).toBe(128)
  expect(stderr).toMatch(words)
  expect(await work.git('ls-remote', world.at(alice, 'app'), 'main')).toBe(`${head}\trefs/heads/main`)
})

test.each<[string, (account: HostileAccount) => void]>([
  [
    'values nested without measure',
    ({ addRef, answer, records }) => {
      addRef('refs/heads/deep', head)
      const text = JSON.stringify({ records: records('dev.skein.ref') })
      answer('dev.skein.ref', (_, response) =>
        sendJson(response, text.replace('"seq":1}}]', `"seq":1,"x":${NESTED}}}]`)),
      )
    },
  ],
  [
    "refs in each other's way",
    ({ addRef }) => void ['main/a', 'main/a/b'].map((name) => addRef(`refs/heads/${name}`, head)),
  ],
  ['a pack that replaces itself', () => undefined],
])('%s do not spoil the rest', async (_, attack) => {
  await using account = await startAccount()
  attack(account)
  const clone = await world.clone('--mirror', `${world.edge.url}${account.path}`)
  expect(await clone.refs()).toEqual({ 'refs/heads/main': head })
})
