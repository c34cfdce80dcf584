import { randomBytes } from 'node:crypto'
import { failed, type Wrangler } from './wrangler.ts'

export interface Secret {
  readonly name: string
  /** What the edge does not do without it. */
  readonly without: string
  /** A value that nobody has to know, or null where somebody has to. */
  readonly generate: (() => string) | null
}

/** See docs/operating.md. */
export const SECRETS: readonly Secret[] = [
  {
    name: 'SESSION_KEY',
    without: 'nobody can push',
    generate: () => randomBytes(32).toString('base64'),
  },
  { name: 'OPERATOR_TOKEN', without: "the operator's commands are refused", generate: null },
]

export function listCommand(worker: string): readonly string[] {
  return ['secret', 'list', '--name', worker, '--format', 'json']
}

export function putCommand(worker: string, { name }: Secret): readonly string[] {
  return ['secret', 'put', name, '--name', worker]
}

/** Those that are not set; a Worker that does not exist yet has none. @throws DeployError where it cannot be said */
export async function findMissing(wrangler: Wrangler, worker: string): Promise<Secret[]> {
  const command = listCommand(worker)
  const result = await wrangler.ask(command)
  if (result.status !== 0) {
    if (/Worker ".*" (\(env: .*\) )?not found/.test(result.stderr + result.stdout)) return [...SECRETS]
    throw failed(command, result)
  }
  const set = new Set((JSON.parse(result.stdout) as { readonly name: string }[]).map(({ name }) => name))
  return SECRETS.filter(({ name }) => !set.has(name))
}

/** By standard input: it stands neither in a file nor in a list of processes, and is not printed. */
export async function putSecret(wrangler: Wrangler, worker: string, secret: Secret, value: string): Promise<void> {
  await wrangler.run(putCommand(worker, secret), { input: value })
}
