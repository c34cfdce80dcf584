import { jsonToLex, type LexiconDoc, Lexicons, ValidationError } from '@atproto/lexicon'
import collaborator from '../../lexicons/dev/skein/collaborator.json' with { type: 'json' }
import pack from '../../lexicons/dev/skein/pack.json' with { type: 'json' }
import ref from '../../lexicons/dev/skein/ref.json' with { type: 'json' }
import refs from '../../lexicons/dev/skein/refs.json' with { type: 'json' }
import repo from '../../lexicons/dev/skein/repo.json' with { type: 'json' }
import { InvalidRecordError } from './record-error.ts'

// Lexicons changes what it is given: hence the clones.
const lexicons = new Lexicons(
  [repo, pack, ref, refs, collaborator].map((document) => structuredClone(document) as LexiconDoc),
)

/**
 * Checks the JSON of one record against its lexicon.
 *
 * @returns the record with `$bytes` as Uint8Array and blobs as `BlobRef`; its fields have the lexicon's types
 * @throws {@link InvalidRecordError}
 */
export function checkRecord(collection: string, json: unknown): Record<string, unknown> {
  try {
    return lexicons.assertValidRecord(collection, jsonToLex(json)) as Record<string, unknown>
  } catch (cause) {
    // jsonToLex throws plain errors on broken $bytes and $link values.
    const reason = cause instanceof ValidationError || cause instanceof Error ? cause.message : String(cause)
    throw new InvalidRecordError(reason, { cause })
  }
}
