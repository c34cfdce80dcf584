import { env, runInDurableObject } from 'cloudflare:test'
import type { RepoRecord } from '../../../atproto/records/record-types.ts'
import type { RefState } from '../../../atproto/refs/ref-state.ts'
import type { Environment } from '../../../durable-objects/environment.ts'
import type { MirrorHead } from '../../../storage/mirror/mirror-rows.ts'
import { MirrorStore } from '../../../storage/mirror/mirror-store.ts'

export const DID = 'did:plc:abcdefghijklmnopqrstuvwx'
export const PDS = 'https://pds.test'

export const RECORD: RepoRecord = {
  name: 'app',
  defaultBranch: 'main',
  objectFormat: 'sha1',
  createdAt: '2026-11-30T12:00:00Z',
}

let objects = 0

/** Runs a test inside a new `Repository` object, on the tables in its SQLite. */
export function inMirror(run: (store: MirrorStore) => Promise<void> | void): Promise<void> {
  return inMirrorStorage((storage) => run(new MirrorStore(storage)))
}

/** The same on its storage. */
export function inMirrorStorage(run: (storage: DurableObjectStorage) => Promise<void> | void): Promise<void> {
  const { REPOSITORY } = env as unknown as Environment
  const stub = REPOSITORY.get(REPOSITORY.idFromName(`test ${objects++}`))
  return runInDurableObject(stub, (_, state) => run(state.storage))
}

export function head(change: Partial<MirrorHead> = {}): Omit<MirrorHead, 'version'> {
  return { did: DID, rkey: '3lzkoq5qq2s2a', pds: PDS, record: RECORD, head: null, checkedAt: 1000, ...change }
}

export function ref(name: string, target: string | null, seq: number, change: Partial<RefState> = {}): RefState {
  return { name, target, peeled: null, seq, pack: null, at: { kind: 'loose' }, ...change }
}
