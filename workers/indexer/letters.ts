import { parseJson } from '../../atproto/network/json.ts'
import type { DeadLetters } from '../../storage/index/dead-letters.ts'
import type { DeadLetter } from '../../storage/index/index-types.ts'
import type { EventsMessage } from '../../storage/index/messages.ts'
import { REVS_KEPT_FOR } from '../../storage/index/read-events.ts'
import { readEventsMessage } from './read-message.ts'

export interface LettersDeps {
  readonly letters: Pick<DeadLetters, 'list' | 'take'>
  send(message: EventsMessage): Promise<void>
  /** Has accounts listed: what the row says of it stays until it is done. */
  want(dids: readonly string[]): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
}

/** What could not be applied, the newest first. @param before id of the last one of the page before */
export function listDeadLetters(
  { letters }: Pick<LettersDeps, 'letters'>,
  limit: number,
  before?: number,
): Promise<DeadLetter[]> {
  return letters.list(limit, before)
}

/**
 * What has become of one: `wanted`: it is too old to be applied, and its accounts are listed instead; `unreadable`: it is no
 * message, and stays; `absent`: there is none of that id.
 */
export type ReplayOutcome = 'replayed' | 'wanted' | 'unreadable' | 'absent'

/** Has dead letters delivered once more. One that fails again becomes another letter. */
export async function replayDeadLetters(
  deps: LettersDeps,
  ids: readonly number[],
): Promise<{ id: number; outcome: ReplayOutcome }[]> {
  const outcomes: { id: number; outcome: ReplayOutcome }[] = []
  for (const id of ids) outcomes.push({ id, outcome: await replay(deps, id) })
  return outcomes
}

async function replay({ letters, send, want, now }: LettersDeps, id: number): Promise<ReplayOutcome> {
  const [letter] = await letters.list(1, id + 1)
  if (letter?.id !== id) return 'absent'
  const message = readEventsMessage(parseJson(letter.payload))
  if (message === null) return 'unreadable'
  // Not the other way round: of one without times, which another version has written, it is not known.
  const isOld = !(now() - oldest(letter, message) < REVS_KEPT_FOR)
  if (isOld) await want([...new Set(message.events.map(({ did }) => did))])
  else await send(message)
  // It is taken out only then: to deliver it twice changes nothing.
  await letters.take(id)
  return isOld ? 'wanted' : 'replayed'
}

/**
 * Since when something newer may have been applied. What that deleted is known for {@link REVS_KEPT_FOR}: an older event
 * would bring it back. A host's times are believed only where they are earlier. Milliseconds since 1970.
 */
function oldest({ diedAt }: DeadLetter, { events }: EventsMessage): number {
  return events.reduce((first, { time }) => Math.min(first, time), diedAt)
}
