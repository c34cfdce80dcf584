import { TidClock } from '../atproto/records/tid.ts'

/** The record keys that this isolate chooses: of repositories and packs. One clock, so that no two are the same. */
export const tids = new TidClock()
