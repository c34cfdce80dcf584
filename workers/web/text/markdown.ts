import { visibleName, visibleText } from '../render/text.ts'

/** Markdown with strangers' words in it, which stay words: none begins a heading, a link or the end of a block. */

/** A name, or a line of text: one line, and no character of it means anything. */
export function inline(text: string): string {
  return visibleName(text)
    .replace(/[\\`*[\]<>|&]|(?<![\p{L}\p{N}])[_~#]|[_~](?![\p{L}\p{N}])/gu, '\\$&')
    .replace(/^\s*(?:[-+=]|\d+(?=[.)]))/, beginning)
}

/** What begins an item of a list, a line across or a heading of the line above, at the start of a line. */
function beginning(text: string): string {
  const mark = text.trimStart()
  return /\d/.test(mark) ? `${mark}\\` : `\\${mark}`
}

/** A name as code. */
export function code(text: string): string {
  const name = visibleName(text)
  const ticks = '`'.repeat(longestRun(name) + 1)
  const space = name.startsWith('`') || name.endsWith('`') ? ' ' : ''
  return `${ticks}${space}${name}${space}${ticks}`
}

/** Text of several lines as it stands, in a block that it cannot end. */
export function block(text: string, language = ''): string {
  const shown = visibleText(text)
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1))
  return `${fence}${language}\n${shown}${shown.endsWith('\n') || shown === '' ? '' : '\n'}${fence}\n`
}

/** @param label a stranger's words */
export function link(label: string, url: string): string {
  return `[${inline(label).replaceAll('\n', ' ')}](<${url}>)`
}

/** Parts with an empty line between them; those that are empty are left out. */
export function document(...parts: readonly (string | null | false)[]): string {
  const shown = parts.filter((part) => typeof part === 'string' && part !== '') as string[]
  return `${shown.map((part) => part.replace(/\n+$/, '')).join('\n\n')}\n`
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}\n`).join('')
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0)
}
