import type { Mirror } from '../../durable-objects/repository/mirror.ts'
import {
  advertiseCapabilities,
  advertiseReceivePack,
  advertiseUploadPack,
  parseService,
  type ServiceName,
} from '../../git/protocol/advertise-refs.ts'
import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { parseGitProtocol } from '../../git/protocol/protocol-version.ts'
import { ALL_REFS } from '../../git/refs/ref-selection.ts'
import { HttpError } from '../http/http-error.ts'
import type { RequestContext } from '../request-context.ts'
import { keptAdvertisements } from './advertisement-cache.ts'
import { streamedResponse } from './git-request.ts'
import { requirePushTarget } from './push-target.ts'

/** GET info/refs: what the repository has (v0, v1, pushes), or what the server can do (v2). */
export async function infoRefs(
  context: RequestContext,
  request: Request,
  actor: string,
  name: string,
): Promise<Response> {
  const service = parseService(new URL(request.url).searchParams.get('service'))
  if (service === null) {
    throw new HttpError(403, 'UnknownService', 'only smart HTTP is served here: git 1.6.6 or later is needed')
  }
  if (service === 'git-receive-pack') {
    const { identity, entry } = await requirePushTarget(context, request, actor, name)
    if (entry === null) return advertisement(service, advertiseReceivePack(EMPTY))
    return advertisement(service, await advertise(context.mirror(identity, entry.rkey, 'writer'), service))
  }
  const { identity, entry } = await context.locate(actor, name)
  const version = parseGitProtocol(request.headers.get('Git-Protocol'))
  const mirror = context.mirror(identity, entry.rkey)
  if (version === 2) {
    // What keeps it from being read has to be said now: git shows the words of a refused discovery, not of a later POST.
    await mirror.requireKnown()
    return advertisement(service, advertiseCapabilities())
  }
  return advertisement(service, await advertise(mirror, service, version))
}

type Chunks = Generator<Uint8Array, void, undefined>

const EMPTY = { head: { branch: 'refs/heads/main', target: null }, refs: [] }

async function advertise(mirror: Mirror, service: ServiceName, version: 0 | 1 = 0): Promise<Chunks> {
  const manifest = await mirror.refsManifest(ALL_REFS)
  return keptAdvertisements.encode(manifest, `${service} ${version}`, () => {
    const { refs, defaultBranch } = manifest
    const advertised = { head: resolveHead(refs, defaultBranch), refs }
    return service === 'git-upload-pack' ? advertiseUploadPack(advertised, version) : advertiseReceivePack(advertised)
  })
}

function advertisement(service: ServiceName, chunks: Chunks): Response {
  return streamedResponse(`application/x-${service}-advertisement`, chunks)
}
