import { parseLexiconDoc } from '@atproto/lexicon'
import { expect, test } from 'vitest'
import pack from '../../../lexicons/dev/skein/pack.json' with { type: 'json' }
import ref from '../../../lexicons/dev/skein/ref.json' with { type: 'json' }
import refs from '../../../lexicons/dev/skein/refs.json' with { type: 'json' }
import repo from '../../../lexicons/dev/skein/repo.json' with { type: 'json' }

test.each([repo, pack, ref, refs].map((document) => [document.id, document] as const))(
  '%s is a lexicon',
  (_, document) => {
    expect(parseLexiconDoc(structuredClone(document))).toEqual(document)
  },
)
