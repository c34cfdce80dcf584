import type { BlockSubject } from '../../storage/operator/blocks.ts'
import type { Environment } from '../environment.ts'
import { accountWriterOf, repositoryOf } from '../stubs.ts'
import { forEachMirror } from './for-each-mirror.ts'

/**
 * Has all objects hear of a block, or that one was taken back, after D1 has: from then on no answer is by what was before.
 * An object that comes to have a mirror later asks D1 itself.
 *
 * @param keepBytes whether R2 keeps what it has of what is blocked
 * @returns how many mirrors were told
 * @throws what the platform throws, where one of them was not; all others were. It is safe to do it again
 */
export async function tellOfBlock(
  environment: Pick<Environment, 'ACCOUNT_WRITER' | 'DB' | 'REPOSITORY'>,
  { did, rkey }: BlockSubject,
  keepBytes: boolean,
): Promise<number> {
  const tellMirrors = async () => {
    if (rkey === null) return forEachMirror(environment, did, (mirror, key) => mirror.heedOperator(key, keepBytes))
    await repositoryOf(environment, did, rkey).heedOperator({ did, rkey }, keepBytes)
    return 1
  }
  const [writer, mirrors] = await Promise.allSettled([
    accountWriterOf(environment, did).heedOperator(did),
    tellMirrors(),
  ])
  if (writer.status === 'rejected') throw writer.reason
  if (mirrors.status === 'rejected') throw mirrors.reason
  return mirrors.value
}
