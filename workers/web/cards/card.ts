import type { LanguageShare } from '../render/languages.ts'

/** What a picture of a page says, for those who share its address. */
export interface Card {
  /** Above the title: whose it is. */
  readonly over: string
  readonly title: string
  /** Empty: nothing is said. */
  readonly text: string
  /** In a line at the foot. */
  readonly facts: readonly string[]
  readonly languages: readonly LanguageShare[]
  /** CID of the picture that is shown beside the title; null: none is. */
  readonly picture: string | null
}

export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630
