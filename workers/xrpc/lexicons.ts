import { type LexiconDoc, Lexicons } from '@atproto/lexicon'
import gitDefs from '../../lexicons/dev/skein/git/defs.json' with { type: 'json' }
import getBlob from '../../lexicons/dev/skein/git/getBlob.json' with { type: 'json' }
import getCommit from '../../lexicons/dev/skein/git/getCommit.json' with { type: 'json' }
import getTree from '../../lexicons/dev/skein/git/getTree.json' with { type: 'json' }
import listCommits from '../../lexicons/dev/skein/git/listCommits.json' with { type: 'json' }
import listRefs from '../../lexicons/dev/skein/git/listRefs.json' with { type: 'json' }
import create from '../../lexicons/dev/skein/repo/create.json' with { type: 'json' }
import repoDefs from '../../lexicons/dev/skein/repo/defs.json' with { type: 'json' }
import get from '../../lexicons/dev/skein/repo/get.json' with { type: 'json' }
import list from '../../lexicons/dev/skein/repo/list.json' with { type: 'json' }
import createToken from '../../lexicons/dev/skein/token/create.json' with { type: 'json' }
import tokenDefs from '../../lexicons/dev/skein/token/defs.json' with { type: 'json' }
import listTokens from '../../lexicons/dev/skein/token/list.json' with { type: 'json' }
import revokeToken from '../../lexicons/dev/skein/token/revoke.json' with { type: 'json' }

/** The lexicons of the methods that are served here. */
export const lexicons = new Lexicons(
  [
    ...[gitDefs, getBlob, getCommit, getTree, listCommits, listRefs],
    ...[repoDefs, create, get, list],
    ...[tokenDefs, createToken, listTokens, revokeToken],
    // Lexicons fills in its documents, and imported JSON is shared.
  ].map((document) => structuredClone(document) as LexiconDoc),
)
