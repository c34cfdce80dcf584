import { parseJson } from '../../atproto/network/json.ts'
import type { DeadLetters } from '../../storage/index/dead-letters.ts'
import type { DeadLetter } from '../../storage/index/index-types.ts'
import type { EventsMessage } from '../../storage/index/messages.ts'
import { readEventsMessage } from './read-message.ts'

export interface LettersDeps {
  readonly letters: Pick<DeadLetters, 'list' | 'take'>
  send(message: EventsMessage): Promise<void>
}

/** What could not be applied, the newest first. @param before id of the last one of the page before */
export function listDeadLetters(
  { letters }: Pick<LettersDeps, 'letters'>,
  limit: number,
  before?: number,
): Promise<DeadLetter[]> {
  return letters.list(limit, before)
}

/** What has become of one: `unreadable`: it is no message, and stays; `absent`: there is none of that id. */
export type ReplayOutcome = 'replayed' | 'unreadable' | 'absent'

/** Has dead letters delivered once more. One that fails again becomes another letter. */
export async function replayDeadLetters(
  deps: LettersDeps,
  ids: readonly number[],
): Promise<{ id: number; outcome: ReplayOutcome }[]> {
  const outcomes: { id: number; outcome: ReplayOutcome }[] = []
  for (const id of ids) outcomes.push({ id, outcome: await replay(deps, id) })
  return outcomes
}

async function replay({ letters, send }: LettersDeps, id: number): Promise<ReplayOutcome> {
  const [letter] = await letters.list(1, id + 1)
  if (letter?.id !== id) return 'absent'
  const message = readEventsMessage(parseJson(letter.payload))
  if (message === null) return 'unreadable'
  // It is taken out only then: to deliver it twice changes nothing.
  await send(message)
  await letters.take(id)
  return 'replayed'
}
