import type { Oid } from '../../../git/bytes/oid.ts'
import { ScratchRepository } from '../git.ts'
import { text, wire } from '../protocol/wire.ts'

/** A v0 request to upload-pack. */
export interface UploadPackRequest {
  readonly wants: readonly Oid[]
  readonly haves?: readonly Oid[]
  /** Where the client's history ends. */
  readonly shallow?: readonly Oid[]
  /** `deepen`, `deepen-since`, `deepen-not` and `filter` lines. */
  readonly lines?: readonly string[]
  readonly relative?: boolean
}

export interface UploadPackAnswer {
  readonly shallow: readonly Oid[]
  readonly unshallow: readonly Oid[]
  /** Ids of the objects in the pack, sorted. */
  readonly objects: readonly Oid[]
}

const SETTINGS = ['uploadpack.allowAnySHA1InWant=true', 'uploadpack.allowFilter=true'].flatMap((key) => ['-c', key])

/** What git's own upload-pack sends. The pack is not thin. @throws where git refuses */
export function askUploadPack(repository: ScratchRepository, request: UploadPackRequest): UploadPackAnswer {
  const { wants, haves = [], shallow = [], lines = [], relative = false } = request
  const capabilities = `ofs-delta filter no-progress${relative ? ' deepen-relative' : ''}`
  const body = wire(
    ...wants.map((oid, i) => `want ${oid}${i === 0 ? ` ${capabilities}` : ''}\n`),
    ...shallow.map((oid) => `shallow ${oid}\n`),
    ...lines.map((line) => `${line}\n`),
    null,
    ...haves.map((oid) => `have ${oid}\n`),
    'done\n',
  )
  const answer = Buffer.from(repository.git([...SETTINGS, 'upload-pack', '--stateless-rpc', '.'], body))
  const at = answer.indexOf('PACK')
  const head = text(answer.subarray(0, at))
  return {
    shallow: [...head.matchAll(/(?<!un)shallow ([0-9a-f]{40})/g)].map(([, oid]) => oid!).sort(),
    unshallow: [...head.matchAll(/unshallow ([0-9a-f]{40})/g)].map(([, oid]) => oid!).sort(),
    objects: packedObjects(answer.subarray(at)),
  }
}

function packedObjects(pack: Uint8Array): Oid[] {
  using store = new ScratchRepository({ bare: true })
  const [, name] = store.text(['index-pack', '--stdin'], pack).split('\t')
  const index = store.git(['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'])
  return name === undefined ? [] : text(index).split('\n').filter(Boolean).sort()
}
