import { decodeText } from '../../../git/object/text.ts'
import { Html } from '../jsx/html.ts'

/**
 * What a page shows, as JSON. Paths of files are text: bytes that are no UTF-8 stand as U+FFFD, so who needs such a file goes by
 * its `oid`.
 */
export function jsonOf(data: object): string {
  return `${JSON.stringify(data, (_, value: unknown) => {
    if (value instanceof Uint8Array) return decodeText(value)
    if (value instanceof Html) return undefined
    return value
  })}\n`
}
