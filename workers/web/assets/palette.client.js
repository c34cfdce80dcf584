// The palette: `/` or Ctrl-K opens it, letters find, arrows choose, Enter opens. Where scripts do not run, the field at the top
// leads to the page of results.

const WORDS = { file: 'File', branch: 'Branch', tag: 'Tag', repository: 'Repository', account: 'Account' }
/** Milliseconds without a letter before it is asked. */
const PAUSE = 90

const here = document.querySelector('[data-repository]')
const source = `/-/find${here?.dataset.repository ?? ''}`

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

const list = make('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'What was found' })
const input = make('input', {
  type: 'text',
  role: 'combobox',
  'aria-label': 'Find',
  'aria-expanded': 'false',
  'aria-controls': 'palette-list',
  'aria-autocomplete': 'list',
  autocomplete: 'off',
  spellcheck: 'false',
  placeholder: here === null ? 'Repositories and accounts' : 'Files, branches, repositories, accounts',
})
const status = make('p', { role: 'status', class: 'palette-status' })
const keys = make('p', { class: 'palette-keys' }, '↑↓ choose · Enter opens · Shift-Enter all results · Esc closes')
const dialog = make('dialog', { class: 'palette', 'aria-label': 'Find' }, input, list, status, keys)

let chosen = -1
let asked = 0
let waiting

function show(found, query) {
  list.replaceChildren(
    ...found.map(({ kind, title, about, href }, i) =>
      make(
        'li',
        { id: `palette-${i}`, role: 'option', 'aria-selected': 'false', 'data-href': href },
        make('span', { class: 'kind' }, WORDS[kind] ?? kind),
        make('bdi', {}, title),
        ...(about ? [make('bdi', { class: 'about' }, about)] : []),
      ),
    ),
  )
  input.setAttribute('aria-expanded', String(found.length > 0))
  status.textContent = query === '' ? '' : found.length === 0 ? 'Nothing has these letters.' : ''
  choose(found.length > 0 ? 0 : -1)
}

function choose(next) {
  list.children[chosen]?.setAttribute('aria-selected', 'false')
  chosen = next
  const option = list.children[chosen]
  if (option === undefined) return input.removeAttribute('aria-activedescendant')
  option.setAttribute('aria-selected', 'true')
  option.scrollIntoView({ block: 'nearest' })
  input.setAttribute('aria-activedescendant', option.id)
}

async function ask() {
  const query = input.value.trim()
  const number = ++asked
  if (query === '') return show([], '')
  const parameters = new URLSearchParams({ q: query })
  if (here?.dataset.revision) parameters.set('rev', here.dataset.revision)
  try {
    const response = await fetch(`${source}?${parameters}`, { headers: { Accept: 'application/json' } })
    const { found, message } = await response.json()
    // Whoever has typed on has asked anew.
    if (number !== asked) return
    if (!response.ok) throw new Error(message)
    show(found, query)
  } catch (error) {
    if (number !== asked) return
    show([], '')
    status.textContent = `It cannot be asked now: ${error.message}. Enter searches.`
  }
}

function open() {
  if (!dialog.isConnected) document.body.append(dialog)
  if (dialog.open) return
  input.value = ''
  show([], '')
  dialog.showModal()
  input.focus()
}

/** What is still asked is of no use to who leaves. */
function go(href) {
  clearTimeout(waiting)
  asked++
  location.assign(href)
}

function results() {
  go(`/search?${new URLSearchParams({ q: input.value.trim() })}`)
}

input.addEventListener('input', () => {
  clearTimeout(waiting)
  waiting = setTimeout(ask, PAUSE)
})
input.addEventListener('keydown', (event) => {
  const count = list.children.length
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault()
    if (count > 0) choose((chosen + (event.key === 'ArrowDown' ? 1 : -1) + count) % count)
  } else if (event.key === 'Enter' && !event.isComposing) {
    event.preventDefault()
    const option = list.children[chosen]
    if (event.shiftKey || option === undefined) results()
    else go(option.dataset.href)
  }
})
list.addEventListener('click', (event) => {
  const option = event.target instanceof Element ? event.target.closest('[data-href]') : null
  if (option !== null) go(option.dataset.href)
})
// A click beside it is one on the dialog itself: what it holds covers it.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close()
})

addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')
  const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey
  const isK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  if (!isSlash && !isK) return
  event.preventDefault()
  open()
})
