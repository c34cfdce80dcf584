import { spawn } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'

export const OPERATOR_TOKEN = 'an-operators-token-of-some-length'

const MAIN = join(import.meta.dirname, '../../../cli/operate/main.ts')

export interface Operated {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the operator's command as an operator does. */
export function operate(
  edge: { readonly url: string },
  args: readonly string[],
  token: string | undefined = OPERATOR_TOKEN,
): Promise<Operated> {
  const env = { PATH: process.env.PATH, SKEIN_EDGE: edge.url, ...(token === '' ? {} : { SKEIN_OPERATOR_TOKEN: token }) }
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    texts.stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    texts.stderr += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, ...texts }))
  })
}
