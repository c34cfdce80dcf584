import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { Git } from '../../dev/git.ts'
import { operate } from './operator/operate.ts'

const START = join(import.meta.dirname, '..', '..', 'dev', 'start.ts')
const root = await mkdtemp(join(tmpdir(), 'skein-start-'))
afterAll(() => rm(root, { recursive: true, force: true }))
const git = new Git(root)

interface Ready {
  readonly edge: string
  readonly pds: string
  readonly plc: string
  readonly accounts: { handle: string; did: string; password: string }[]
  readonly token: string
  readonly operatorToken: string
}

/** `npm start` without npm. */
class Started {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown[]>
  stdout = ''
  stderr = ''

  constructor(...args: string[]) {
    this.#child = spawn(process.execPath, [START, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#exit = once(this.#child, 'close')
    // A test that fails before its end leaves nothing running.
    onTestFinished(() => void this.#child.kill('SIGKILL'))
    this.#child.stdout?.on('data', (chunk) => {
      this.stdout += chunk
    })
    this.#child.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
  }

  /** Waits until stdout has it. @throws where it exits before */
  async says(what: RegExp): Promise<string> {
    for (;;) {
      const match = what.exec(this.stdout)
      if (match !== null) return match[0]
      await Promise.race([
        once(this.#child.stdout as NodeJS.ReadableStream, 'data'),
        this.#exit.then(() => Promise.reject(new Error(`it exited:\n${this.stdout}${this.stderr}`))),
      ])
    }
  }

  async stop(signal: NodeJS.Signals): Promise<number> {
    this.#child.kill(signal)
    return this.exitStatus()
  }

  async exitStatus(): Promise<number> {
    const [status] = await this.#exit
    return status as number
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('--json tells in one line where everything is, and the demo repository is there; SIGTERM ends it all', async () => {
  const port = await freePort()
  const started = new Started('--port', String(port), '--json')
  const ready = JSON.parse(await started.says(/^.*\n/)) as Ready
  expect(ready.edge).toBe(`http://127.0.0.1:${port}`)
  expect(ready.accounts.map(({ handle }) => handle)).toEqual(['alice.test', 'bob.test'])
  expect(ready.accounts[0]?.did).toMatch(/^did:plc:/)
  expect(ready.token).toMatch(/^skein_/)
  const operated = await operate({ url: ready.edge }, ['status', '--json'], ready.operatorToken)
  expect(JSON.parse(operated.stdout)).toMatchObject({ blocks: 0, deadLetters: 0 })
  const plcDocument = await fetch(`${ready.plc}/${ready.accounts[0]?.did}`)
  expect(await plcDocument.text()).toContain(ready.pds)

  const listing = await git.run(['ls-remote', `${ready.edge}/alice.test/demo`])
  expect(listing.stdout).toMatch(/refs\/heads\/main\n[\s\S]*refs\/tags\/v1\.0\.0\^\{\}\n/)

  expect(await started.stop('SIGTERM')).toBe(0)
  expect(started.stdout.trim().split('\n')).toHaveLength(1)
  for (const url of [ready.edge, ready.pds, ready.plc]) await expect(fetch(url)).rejects.toThrow()
})

test('the commands that it prints work as they stand', async () => {
  const started = new Started('--port', String(await freePort()))
  await started.says(/Ctrl-C/)
  const commands = started.stdout.split('\n').filter((line) => /^ {2}(git|cd|curl) /.test(line))
  expect(commands.length).toBeGreaterThanOrEqual(5)
  const script = commands.map((line) => line.trim()).join(' && ')
  const shell = spawn('sh', ['-c', script], { cwd: root, env: git.environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [status] = await once(shell, 'close')
  expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' })
  expect(output).toContain('"state":"landed"')
  const edge = await started.says(/http:\/\/127\.0\.0\.1:\d+/)
  const pushed = await git.run(['ls-remote', `${edge}/alice.test/mine`, 'HEAD'])
  expect(pushed.stdout).toMatch(/^[0-9a-f]{40}\tHEAD\n$/)
  expect(await started.stop('SIGINT')).toBe(0)
})

test('--keep: what was pushed is there after a restart, and the demo is not pushed again', async () => {
  const port = await freePort()
  const options = ['--port', String(port), '--json', '--keep', join(root, 'kept')]
  const first = new Started(...options)
  const before = JSON.parse(await first.says(/^.*\n/)) as Ready
  const address = `${before.edge.replace('//', '//alice.test:alice-local@')}/alice.test/demo`
  const work = join(root, 'kept-clone')
  await git.run(['clone', '--quiet', address, work])
  await git.run(['commit', '--quiet', '--allow-empty', '--message', 'kept'], { cwd: work })
  await git.run(['push', '--quiet'], { cwd: work })
  const head = (await git.run(['rev-parse', 'HEAD'], { cwd: work })).stdout.trim()
  expect(await first.stop('SIGINT')).toBe(0)

  const second = new Started(...options)
  const after = JSON.parse(await second.says(/^.*\n/)) as Ready
  expect(after.accounts).toEqual(before.accounts)
  expect(after.token).toBe(before.token)
  expect((await git.run(['ls-remote', address, 'refs/heads/main'])).stdout.slice(0, 40)).toBe(head)
  expect(await second.stop('SIGINT')).toBe(0)
})

test('a taken port is an error in one sentence that says what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const started = new Started('--port', String(port))
  expect(await started.exitStatus()).toBe(1)
  expect(started.stderr).toMatch(new RegExp(`^Port ${port} is taken .*--port \\d+\n$`))
  server.close()
})

test.each([['--prot', '1'], ['--port', 'x'], ['--port', '70000'], ['extra']])(
  '%s %s is an error with the usage',
  async (...args) => {
    const started = new Started(...args)
    expect(await started.exitStatus()).toBe(2)
    expect(started.stderr).toMatch(/npm start -- \[options\]/)
  },
)
