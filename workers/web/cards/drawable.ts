/** Characters that the fonts of cards have no picture of. */
const WITHOUT_GLYPH =
  /[^\u0020-\u007e\u00a0-\u00ac\u00ae-\u024f\u0386-\u03ce\u0400-\u045f\u0490\u0491\u1e00-\u1eff\u2013\u2014\u2018-\u201a\u201c-\u201e\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122\u2191\u2193\u2212]+/gu
/** Marks and joiners change what is before them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Mn}\p{Me}]+/gu

/** A stranger's text in one line, of characters that can be drawn; what cannot be is an ellipsis. */
export function drawable(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\s+/g, ' ')
    .replace(UNSEEN, '')
    .replace(WITHOUT_GLYPH, '…')
    .replace(/…(?:\s*…)+/g, '…')
    .trim()
}
