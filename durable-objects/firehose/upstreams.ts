import { type Environment, readUpstreams } from '../environment.ts'
import { log } from '../log.ts'
import { firehoseOf } from '../stubs.ts'
import type { FirehoseStatus } from './answers.ts'

/**
 * Sees to it that each upstream is followed: to be called every minute.
 *
 * @returns how it goes, but for those whose object did not answer. @throws {@link ConfigError}
 */
export async function followUpstreams(environment: Environment): Promise<FirehoseStatus[]> {
  const answers = await Promise.all(readUpstreams(environment).map(({ name }) => follow(environment, name)))
  return answers.filter((status) => status !== null)
}

async function follow(environment: Environment, name: string): Promise<FirehoseStatus | null> {
  try {
    return await firehoseOf(environment, name).ensureFollowing(name)
  } catch (error) {
    // The others are followed all the same; this one has its alarm, and the next minute.
    log('firehose-unreachable', { upstream: name, reason: String(error) })
    return null
  }
}
