import type { PackHandle } from '../../git/graph/pack-handle.ts'
import type { BuiltPack } from '../../git/pack/build-pack.ts'
import { RefusedError } from '../account-writer/answers.ts'
import { type Environment, readPushLimit, readRepositoryObjects } from '../environment.ts'
import { createPdsClient } from '../pds-clients.ts'
import type { Mirror } from '../repository/mirror.ts'
import type { Room } from '../size-caps.ts'
import { accountWriterOf } from '../stubs.ts'
import { tids } from '../tids.ts'
import { type TakenPack, type TakePackOptions, takePack } from './taken-pack.ts'
import type { Tell } from './tell.ts'

/** What a pack comes to. */
export interface NewPack {
  /** The repository's packs, in the order of its manifest. */
  readonly known: readonly PackHandle[]
  /** Id of the newest of them; null: there are none. */
  readonly newest: string | null
  /** What may be added to the repository; null: there is no cap. */
  readonly room: Room | null
  /** Default: nobody is told. */
  readonly tell?: Tell
}

/**
 * How a pack is taken in that is to land in a repository: to R2, and to its account by a session that `AccountWriter`
 * has. Of a session that is not to be had, {@link takePack} and its pack's record throw {@link RefusedError}.
 *
 * @param mirror its buffers are entered into the account of this one
 */
export function newPack(
  environment: Environment,
  { address: { did, rkey, pds }, memory }: Pick<Mirror, 'address' | 'memory'>,
  { known, newest, room, tell = () => undefined }: NewPack,
): TakePackOptions {
  const client = createPdsClient(environment, pds, did)
  return {
    bucket: environment.PACKS,
    did,
    rkey,
    id: tids.next(newest ?? undefined),
    known,
    tell,
    memory,
    client,
    limit: readPushLimit(environment),
    mostObjects: readRepositoryObjects(environment),
    room,
    blobLimit: async () => (await client.describeServer()).blobUploadLimit,
    token: async (refused) => {
      const address = { did, pds, ...(refused === undefined ? {} : { refused }) }
      const answer = await accountWriterOf(environment, did).accessToken(address)
      if (answer.ok) return answer.token
      throw new RefusedError(answer)
    },
  }
}

/** Takes in a pack that was made in memory. @throws as {@link takePack} */
export function takeBuiltPack({ bytes }: BuiltPack, options: TakePackOptions): Promise<TakenPack> {
  return takePack(chunksOf(bytes), options)
}

/** As a network would give them. Bytes. */
const CHUNK_BYTES = 256 * 1024

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}
