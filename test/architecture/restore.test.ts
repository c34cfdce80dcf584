import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

/** What docs/deploy.md gives to Node: it writes SQL from the copies that wrangler has made. */
function readScript(): string {
  const script = /<<'EOF'\n(.*?)\nEOF$/ms.exec(readFileSync(join(ROOT, 'docs', 'deploy.md'), 'utf8'))?.[1]
  if (script === undefined) throw new Error('docs/deploy.md has no script')
  return script
}

function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const migrations = join(ROOT, 'migrations')
  const names = readdirSync(migrations).filter((name) => name.endsWith('.sql'))
  for (const name of names.sort()) database.exec(readFileSync(join(migrations, name), 'utf8'))
  return database
}

test('what is nowhere else comes back from the copies that docs/deploy.md makes', async () => {
  const hard = 'it\'s; -- "\n€'
  const tables = {
    tokens: [
      { id: 'a', hash: 'h', did: 'did:plc:a', label: hard, repositories: null, branches: '["main"]', rights: 'write' },
    ].map((row) => ({ ...row, created_at: 1, expires_at: 1_764_550_000_123, revoked_at: null })),
    landings: [
      { ticket: 't', did: 'did:plc:a', rkey: 'r', ref: 'refs/heads/main', landing: 'l', commit: null, kind: 'push' },
    ].map((row) => ({ ...row, submitter: 'did:plc:b', token: 'a', label: hard, landed_at: 2 })),
    blocks: [{ subject: 'did:plc:c', reason: hard, created_at: 3 }],
  }
  const folder = await mkdtemp(join(tmpdir(), 'skein-restore-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [table, results] of Object.entries(tables)) {
    await writeFile(join(folder, `${table}.json`), JSON.stringify([{ results, success: true }]))
  }
  const sql = execFileSync(process.execPath, { cwd: folder, input: readScript(), encoding: 'utf8' })
  const database = openDatabase()
  database.exec(sql)
  // What is there already stays.
  database.exec(sql)
  for (const [table, rows] of Object.entries(tables)) {
    expect(database.prepare(`SELECT * FROM ${table}`).all()).toEqual(rows)
  }
})
