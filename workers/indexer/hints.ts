import type { Environment } from '../../durable-objects/environment.ts'
import { log } from '../../durable-objects/log.ts'
import type { WantedAccount, WantQueue } from '../../storage/index/index-types.ts'
import type { WorkMessage } from '../../storage/index/messages.ts'

/** Messages that a Queue takes at once. */
const SENT_AT_ONCE = 100
/** A Queue holds a message back for so long at most: then cron hints at what it was about. Seconds. */
const LONGEST_DELAY = 12 * 60 * 60
/** Due accounts that are hinted at together: those that are listed in a minute, or more. */
const HINTED = 500

/** Messages that say what is to be done, to whoever is free. None throws: what is lost of them is found by cron. */
export interface Hints {
  /** Accounts that are to be listed, each when it is due. */
  accounts(wanted: readonly WantedAccount[]): Promise<void>
  /** Some of those that are due. @param since for so many milliseconds */
  due(since: number): Promise<void>
  /** Lists of which the next accounts are to be wanted. */
  lists(sources: readonly string[]): Promise<void>
}

export function wireHints({ WORK }: Pick<Environment, 'WORK'>, wants: Pick<WantQueue, 'due'>): Hints {
  const send = async (messages: readonly MessageSendRequest<WorkMessage>[]) => {
    try {
      for (let at = 0; at < messages.length; at += SENT_AT_ONCE) {
        await WORK.sendBatch(messages.slice(at, at + SENT_AT_ONCE))
      }
    } catch (error) {
      log('hints-unsent', { count: messages.length, reason: String(error) })
    }
  }
  const accounts = (wanted: readonly WantedAccount[]) =>
    send(
      wanted.map(({ did, dueAt }) => {
        const delaySeconds = Math.min(Math.max(0, Math.ceil((dueAt - Date.now()) / 1000)), LONGEST_DELAY)
        return { body: { kind: 'account', did }, delaySeconds }
      }),
    )
  return {
    accounts,
    due: async (since) => accounts(await wants.due(Date.now() - since, HINTED)),
    lists: (sources) => send(sources.map((source) => ({ body: { kind: 'reconcile', source } }))),
  }
}
