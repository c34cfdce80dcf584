import { packPlugin } from './pack.ts'
import type { IndexPlugin } from './plugin.ts'
import { refPlugin } from './ref.ts'
import { refsPlugin } from './refs.ts'
import { repoPlugin } from './repo.ts'

/** What the index knows, by collection. Of `dev.skein.collaborator` it needs nothing: a push asks the account. */
export const PLUGINS: ReadonlyMap<string, IndexPlugin> = new Map(
  [repoPlugin, packPlugin, refPlugin, refsPlugin].map((plugin) => [plugin.collection, plugin]),
)
