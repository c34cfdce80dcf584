import { type LexiconDoc, Lexicons } from '@atproto/lexicon'
import actorDefs from '../../lexicons/dev/skein/actor/defs.json' with { type: 'json' }
import getProfile from '../../lexicons/dev/skein/actor/getProfile.json' with { type: 'json' }
import listRepos from '../../lexicons/dev/skein/actor/listRepos.json' with { type: 'json' }
import timeline from '../../lexicons/dev/skein/feed/timeline.json' with { type: 'json' }
import gatewayCommit from '../../lexicons/dev/skein/gateway/commit.json' with { type: 'json' }
import createBranch from '../../lexicons/dev/skein/gateway/createBranch.json' with { type: 'json' }
import gatewayDefs from '../../lexicons/dev/skein/gateway/defs.json' with { type: 'json' }
import deleteBranch from '../../lexicons/dev/skein/gateway/deleteBranch.json' with { type: 'json' }
import getLanding from '../../lexicons/dev/skein/gateway/getLanding.json' with { type: 'json' }
import merge from '../../lexicons/dev/skein/gateway/merge.json' with { type: 'json' }
import mergePreview from '../../lexicons/dev/skein/gateway/mergePreview.json' with { type: 'json' }
import gitDefs from '../../lexicons/dev/skein/git/defs.json' with { type: 'json' }
import getBlob from '../../lexicons/dev/skein/git/getBlob.json' with { type: 'json' }
import getCommit from '../../lexicons/dev/skein/git/getCommit.json' with { type: 'json' }
import getTree from '../../lexicons/dev/skein/git/getTree.json' with { type: 'json' }
import listCommits from '../../lexicons/dev/skein/git/listCommits.json' with { type: 'json' }
import listRefs from '../../lexicons/dev/skein/git/listRefs.json' with { type: 'json' }
import operatorBlock from '../../lexicons/dev/skein/operator/block.json' with { type: 'json' }
import operatorDefs from '../../lexicons/dev/skein/operator/defs.json' with { type: 'json' }
import getReconcile from '../../lexicons/dev/skein/operator/getReconcile.json' with { type: 'json' }
import operatorStatus from '../../lexicons/dev/skein/operator/getStatus.json' with { type: 'json' }
import listBlocks from '../../lexicons/dev/skein/operator/listBlocks.json' with { type: 'json' }
import listDeadLetters from '../../lexicons/dev/skein/operator/listDeadLetters.json' with { type: 'json' }
import listDroppedRecords from '../../lexicons/dev/skein/operator/listDroppedRecords.json' with { type: 'json' }
import reconcile from '../../lexicons/dev/skein/operator/reconcile.json' with { type: 'json' }
import replayDeadLetters from '../../lexicons/dev/skein/operator/replayDeadLetters.json' with { type: 'json' }
import unblock from '../../lexicons/dev/skein/operator/unblock.json' with { type: 'json' }
import create from '../../lexicons/dev/skein/repo/create.json' with { type: 'json' }
import repoDefs from '../../lexicons/dev/skein/repo/defs.json' with { type: 'json' }
import get from '../../lexicons/dev/skein/repo/get.json' with { type: 'json' }
import list from '../../lexicons/dev/skein/repo/list.json' with { type: 'json' }
import search from '../../lexicons/dev/skein/repo/search.json' with { type: 'json' }
import createToken from '../../lexicons/dev/skein/token/create.json' with { type: 'json' }
import tokenDefs from '../../lexicons/dev/skein/token/defs.json' with { type: 'json' }
import listTokens from '../../lexicons/dev/skein/token/list.json' with { type: 'json' }
import revokeToken from '../../lexicons/dev/skein/token/revoke.json' with { type: 'json' }

/** The lexicons of the methods that are served here. */
export const lexicons = new Lexicons(
  [
    ...[gitDefs, getBlob, getCommit, getTree, listCommits, listRefs],
    ...[repoDefs, create, get, list, search],
    ...[actorDefs, getProfile, listRepos, timeline],
    ...[gatewayDefs, gatewayCommit, getLanding, createBranch, deleteBranch, mergePreview, merge],
    ...[tokenDefs, createToken, listTokens, revokeToken],
    ...[operatorDefs, operatorBlock, unblock, listBlocks, operatorStatus],
    ...[listDeadLetters, replayDeadLetters, listDroppedRecords, reconcile, getReconcile],
    // Lexicons fills in its documents, and imported JSON is shared.
  ].map((document) => structuredClone(document) as LexiconDoc),
)
