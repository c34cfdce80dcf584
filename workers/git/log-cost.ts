import { logRoutine } from '../../durable-objects/log.ts'
import type { Mirror } from '../../durable-objects/repository/mirror.ts'

/** Passes an answer on, and logs what it has cost once it is given, or the client has gone. */
export async function* logCost(
  event: string,
  mirror: Mirror,
  chunks: AsyncGenerator<Uint8Array> | Generator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let sent = 0
  let isWhole = false
  try {
    for await (const chunk of chunks) {
      sent += chunk.length
      yield chunk
    }
    isWhole = true
  } finally {
    const { did, rkey } = mirror.address
    logRoutine(event, { did, rkey, sent, isWhole, ...mirror.cost })
  }
}
