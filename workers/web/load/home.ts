import type { PageCall, PageSource } from '../page.ts'
import { type ListedPush, type ListedRepository, listedPush, listedRepository } from './listed.ts'

/** The front page. */
export interface HomeData {
  /** The newest pushes of all accounts, one for each repository. */
  readonly pushes: readonly ListedPush[]
  readonly newest: readonly ListedRepository[]
}

/** Pushes that are looked at for those of different repositories, and how many of each are shown. */
const READ = 40
const SHOWN = 12

/** `/` */
export async function loadHome({ deps: { index } }: PageCall): Promise<PageSource<HomeData>> {
  const [pushes, newest] = await Promise.all([
    index.pushes(undefined, { limit: READ }),
    index.repositories(undefined, { limit: SHOWN }),
  ])
  const data = {
    pushes: onePerRepository(pushes.items.map(listedPush)).slice(0, SHOWN),
    newest: newest.items.map(listedRepository),
  }
  return { key: [data], immutable: false, read: async () => data }
}

function onePerRepository(pushes: readonly ListedPush[]): ListedPush[] {
  const seen = new Set<string>()
  return pushes.filter(({ repository: { href } }) => !seen.has(href) && seen.add(href))
}
