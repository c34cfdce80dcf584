import type { SizeCaps } from './environment.ts'

/** What the packs of a repository may still grow by. */
export interface Room {
  /** Negative where there is more than may be. */
  readonly bytes: number
  /** For whoever needs more: the cap by the name of its setting, and what there is. */
  readonly message: string
}

/** What there is, in bytes of the packs that the account has. */
export interface Sizes {
  readonly repository: number
  /** Of the account's other repositories that are mirrored here. */
  readonly others: number
}

/** How much may be added to a repository; null: there is no cap. */
export function roomOf({ repository, account }: SizeCaps, sizes: Sizes): Room | null {
  const rooms: Room[] = []
  if (repository !== null) {
    rooms.push({
      bytes: repository - sizes.repository,
      message: `this edge takes at most ${repository} bytes of packs of one repository (MAX_REPOSITORY_BYTES), and this one has ${sizes.repository}`,
    })
  }
  if (account !== null) {
    const all = sizes.repository + sizes.others
    rooms.push({
      bytes: account - all,
      message: `this edge takes at most ${account} bytes of packs of one account (MAX_ACCOUNT_BYTES), and its repositories here have ${all}`,
    })
  }
  return rooms.reduce<Room | null>((least, room) => (least === null || room.bytes < least.bytes ? room : least), null)
}
