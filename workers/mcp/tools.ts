import type { Tool } from './tool.ts'
import { commit } from './tools/commit.ts'
import { createBranch } from './tools/create-branch.ts'
import { diff } from './tools/diff.ts'
import { getLanding } from './tools/get-landing.ts'
import { listBranches } from './tools/list-branches.ts'
import { listFiles } from './tools/list-files.ts'
import { listRepos } from './tools/list-repos.ts'
import { log } from './tools/log.ts'
import { merge } from './tools/merge.ts'
import { readFile } from './tools/read-file.ts'
import { search } from './tools/search-files.ts'

/** All tools, in the order in which a client is told of them. */
export const TOOLS: readonly Tool[] = [
  ...[listRepos, listBranches, listFiles, readFile, search, log, diff],
  ...[commit, createBranch, merge, getLanding],
]
