import {
  advertiseCapabilities,
  advertiseReceivePack,
  advertiseUploadPack,
  parseService,
  type ServiceName,
} from '../../git/protocol/advertise-refs.ts'
import { resolveHead } from '../../git/protocol/advertised-refs.ts'
import { parseGitProtocol } from '../../git/protocol/protocol-version.ts'
import type { Manifest } from '../../storage/manifest.ts'
import { HttpError } from '../http/http-error.ts'
import { Mirror } from '../mirror.ts'
import type { RequestContext } from '../request-context.ts'
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
    const refs = entry === null ? EMPTY : await refsOf(new Mirror(context, identity, entry.rkey, 'writer'))
    return advertisement(service, advertiseReceivePack(refs))
  }
  const { identity, entry } = await context.locate(actor, name)
  const version = parseGitProtocol(request.headers.get('Git-Protocol'))
  const mirror = new Mirror(context, identity, entry.rkey)
  if (version === 2) {
    // What keeps it from being read has to be said now: git shows the words of a refused discovery, not of a later POST.
    await mirror.requireKnown()
    return advertisement(service, advertiseCapabilities())
  }
  const refs = await refsOf(mirror)
  return advertisement(service, advertiseUploadPack(refs, version))
}

const EMPTY = { head: { branch: 'refs/heads/main', target: null }, refs: [] }

async function refsOf(mirror: Mirror): Promise<{ head: ReturnType<typeof resolveHead>; refs: Manifest['refs'] }> {
  const manifest = await mirror.refsManifest()
  return { head: resolveHead(manifest.refs, manifest.defaultBranch), refs: manifest.refs }
}

function advertisement(service: ServiceName, chunks: Generator<Uint8Array, void, undefined>): Response {
  return streamedResponse(`application/x-${service}-advertisement`, chunks)
}
