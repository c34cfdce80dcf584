import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { configError } from '../../dev/deploy/config-error.ts'

test('a broken wrangler.toml is told in one line: file, line, and reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-config-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'wrangler.toml')
  await writeFile(path, 'name = "a"\n[vars]\nA = "1"\n\n[vars]\nB = "2"\n')
  let thrown: unknown
  try {
    unstable_readConfig({ config: path })
  } catch (error) {
    thrown = error
  }
  const { message } = configError(thrown, path)
  expect(message).toContain(`${path}:5: `)
  expect(message).toContain('redefine')
  expect(message).not.toContain('\n')
})
