#!/usr/bin/env node
// Stands in for wrangler 4.156.2 where there is no account: it notes its calls, keeps what they would have changed, and
// answers in wrangler's own words. State and log lie in the folder FAKE_WRANGLER.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const folder = process.env.FAKE_WRANGLER
const path = join(folder, 'state.json')
const state = JSON.parse(readFileSync(path, 'utf8'))
const args = process.argv.slice(2)
const command = args.join(' ')
// Not at once by readFileSync: a pipe from Node does not wait for what is still to come.
let input = ''
for await (const chunk of process.stdin.setEncoding('utf8')) input += chunk
appendFileSync(join(folder, 'calls.ndjson'), `${JSON.stringify({ command, input })}\n`)

function say(text) {
  process.stdout.write(`${text}\n`)
}

function fail(text) {
  process.stderr.write(`✘ [ERROR] ${text}\n`)
  process.exit(1)
}

if (state.failing && `${command} `.startsWith(`${state.failing} `) && command !== 'deploy --dry-run')
  fail('A request to the Cloudflare API failed. [code: 10013]')
if (command === 'deploy --dry-run') {
  say('Total Upload: 3916.26 KiB / gzip: 684.92 KiB\n--dry-run: exiting now.')
} else if (command === 'whoami --json') {
  const { accounts } = state
  if (accounts.length === 0) {
    say('{"loggedIn":false}')
    process.exit(1)
  }
  say(JSON.stringify({ loggedIn: true, authType: 'OAuth Token', email: 'alice@example.com', accounts }, null, 2))
} else if (command === 'd1 list --json') {
  say(JSON.stringify(state.databases.map((name, n) => ({ uuid: `00000000-0000-4000-8000-00000000000${n}`, name }))))
} else if (command.startsWith('d1 create ')) {
  state.databases.push(args[2])
  say(`✅ Successfully created DB '${args[2]}' in region WEUR\nCreated your new D1 database.`)
} else if (command.startsWith('r2 bucket create ')) {
  if (state.buckets.includes(args[3]))
    fail(
      'A request to the Cloudflare API failed.\n\n  The bucket you tried to create already exists, and you own it. [code: 10004]',
    )
  state.buckets.push(args[3])
  say(`✅ Created bucket '${args[3]}' with default storage class of Standard.`)
} else if (command.startsWith('queues info ')) {
  if (!state.queues.includes(args[2]))
    fail(`Queue "${args[2]}" does not exist. To create it, run: wrangler queues create ${args[2]}`)
  say(`Queue Name: ${args[2]}`)
} else if (command.startsWith('queues create ')) {
  state.queues.push(args[2])
  say(`✅ Created queue '${args[2]}'`)
} else if (command.startsWith('d1 migrations apply ')) {
  if (!state.databases.includes(args[3])) fail(`Couldn't find a D1 DB with name or binding '${args[3]}'`)
  say(state.hasTables ? '✅ No migrations to apply!' : 'Migrations to be applied:\n0000_first.sql')
  state.hasTables = true
} else if (command.startsWith('secret list ')) {
  if (!state.isDeployed)
    fail('Worker "skein" not found.\n\nIf this is a new Worker, run `wrangler deploy` first to create it.')
  say(JSON.stringify(Object.keys(state.secrets).map((name) => ({ name, type: 'secret_text' }))))
} else if (command.startsWith('secret put ')) {
  state.secrets[args[2]] = input
  say(`✨ Success! Uploaded secret ${args[2]}`)
} else if (command === 'deploy') {
  if (!state.hasTables) fail('the code has come before its tables')
  state.isDeployed = true
  const line = { type: 'deploy', version: 1, worker_name: 'skein', version_id: 'v-1', targets: state.targets }
  writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, `${JSON.stringify(line)}\n`)
} else {
  fail(`Unknown arguments: ${command}`)
}
writeFileSync(path, JSON.stringify(state))
