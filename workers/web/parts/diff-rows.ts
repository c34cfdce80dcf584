import { type DiffLine, type DiffSection, unifiedRows } from '../render/diff-html.ts'

const CLASSES = { added: 'add', deleted: 'del', common: 'same' } as const
const SIGNS = { added: '+', deleted: '−', common: ' ' } as const

/** Rows of a table with one column: the lines' numbers on both sides, and the lines. */
export function unifiedTable(sections: readonly DiffSection[]): string {
  return sections
    .map((section) => {
      const rows = unifiedRows(section).map(({ kind, old, new: fresh, html, isUnended }) => {
        const line = `<td class="t"><span class="sign">${SIGNS[kind]}</span>${html}${unended(isUnended)}</td>`
        return `<tr class="${CLASSES[kind]}"><td class="n">${old ?? ''}</td><td class="n">${fresh ?? ''}</td>${line}</tr>`
      })
      return `<tr class="hunk"><td class="n"></td><td class="n"></td><td class="t">${heading(section)}</td></tr>${rows.join('')}`
    })
    .join('')
}

/** Rows of a table with both sides beside each other. */
export function splitRows(sections: readonly DiffSection[]): string {
  return sections
    .map((section) => {
      const rows = section.rows.map(({ isChanged, old, new: fresh }) => {
        return `<tr>${side(old, isChanged ? 'del' : 'same')}${side(fresh, isChanged ? 'add' : 'same')}</tr>`
      })
      return `<tr class="hunk"><td class="n"></td><td class="t" colspan="3">${heading(section)}</td></tr>${rows.join('')}`
    })
    .join('')
}

function side(line: DiffLine | null, kind: 'add' | 'del' | 'same'): string {
  if (line === null) return '<td class="n none"></td><td class="t none"></td>'
  return `<td class="n ${kind}">${line.number}</td><td class="t ${kind}">${line.html}${unended(line.isUnended)}</td>`
}

function heading({ old, new: fresh }: DiffSection): string {
  return `@@ −${old.start},${old.count} +${fresh.start},${fresh.count} @@`
}

function unended(isUnended: boolean): string {
  return isUnended ? '<span class="unended">no newline at the end</span>' : ''
}
