import cyrillicRegular from '@fontsource/inter/files/inter-cyrillic-400-normal.woff2'
import cyrillicBold from '@fontsource/inter/files/inter-cyrillic-700-normal.woff2'
import greekRegular from '@fontsource/inter/files/inter-greek-400-normal.woff2'
import greekBold from '@fontsource/inter/files/inter-greek-700-normal.woff2'
import latinRegular from '@fontsource/inter/files/inter-latin-400-normal.woff2'
import latinBold from '@fontsource/inter/files/inter-latin-700-normal.woff2'
import latinExtRegular from '@fontsource/inter/files/inter-latin-ext-400-normal.woff2'
import latinExtBold from '@fontsource/inter/files/inter-latin-ext-700-normal.woff2'

/** Of cards: a reader's own fonts are not to be had where they are drawn. */
export const FONTS: readonly { readonly data: ArrayBuffer; readonly weight: number }[] = [
  ...[latinRegular, latinExtRegular, greekRegular, cyrillicRegular].map((data) => ({ data, weight: 400 })),
  ...[latinBold, latinExtBold, greekBold, cyrillicBold].map((data) => ({ data, weight: 700 })),
]
