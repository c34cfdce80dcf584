import { Buffer } from 'node:buffer'
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { decodeText, isUtf8 } from '../../git/object/text.ts'
import { readBlobText } from '../files/blob-text.ts'
import { findFile } from '../files/find-file.ts'
import { BINARY, imageType } from '../files/media-type.ts'
import { httpErrorFrom } from '../http/error-from.ts'
import { percentDecode, percentDecodeText } from '../http/percent.ts'
import { openRepository, type RepositoryDeps } from '../repository-access.ts'

/**
 * The address of a file. All parts are percent-encoded; a `/` in a revision (a branch `agents/7`) and the `:` of a DID
 * always are, so that the parts are told apart. The slashes of the path stay.
 */
export const FILE_TEMPLATE = 'skein://{actor}/{repo}/{revision}/{+path}'

/** A resource goes to the client whole. Bytes. */
export const MAX_RESOURCE = 1024 * 1024

/**
 * Reads a file as a resource: text, or what is no UTF-8 in base64.
 *
 * @param variables of {@link FILE_TEMPLATE}, encoded
 * @throws {@link ProtocolError}
 */
export async function readFileResource(
  deps: RepositoryDeps,
  uri: string,
  variables: Readonly<Record<string, string | string[]>>,
): Promise<ReadResourceResult> {
  try {
    const [actor, name, revision] = ['actor', 'repo', 'revision'].map((part) => percentDecodeText(`${variables[part]}`))
    const path = percentDecode(`${variables.path}`)
    const view = await openRepository(deps, { actor: actor!, name: name! })
    const { oid } = await findFile(view, revision!, path)
    const content = await readBlobText(view.objects, oid, MAX_RESOURCE)
    if (content.kind === 'too-large') {
      const message = `the file has ${content.size} bytes, and ${MAX_RESOURCE} are the most: use the tool read_file`
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
    }
    const { kind, bytes } = content
    if (kind === 'text' && isUtf8(bytes))
      return { contents: [{ uri, mimeType: 'text/plain', text: decodeText(bytes) }] }
    const mimeType = imageType(decodeText(path)) ?? BINARY
    return { contents: [{ uri, mimeType, blob: Buffer.from(bytes).toString('base64') }] }
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { status, code, message } = httpErrorFrom(error)
    if (status === 404) throw new ResourceNotFoundError(uri, `${code}: ${message}`)
    throw new ProtocolError(
      status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      `${code}: ${message}`,
    )
  }
}
