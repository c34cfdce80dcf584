import { expect, it } from 'vitest'
import { drawable } from '../../../workers/web/cards/drawable.ts'

it.each([
  ['A tool, “quoted” – Straße, Ελληνικά, Русский', 'A tool, “quoted” – Straße, Ελληνικά, Русский'],
  ['日本語の tool', '… tool'],
  ['日本 語', '…'],
  ['🧶 yarn 🧶🐑 end', '… yarn … end'],
  ['e\u0301', '\u00e9'],
  ['z\u0335a\u0301lgo', 'zálgo'],
  ['a\u202eb\u0000c\u200bd\ne\tf', 'abcd e f'],
  ['  ', ''],
])('%j is drawn as %j', (text, drawn) => {
  expect(drawable(text)).toBe(drawn)
})
