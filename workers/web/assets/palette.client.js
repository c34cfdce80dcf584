// The search palette, by `/` or Ctrl-K: repositories and accounts, and on a repository's pages its files and branches.
// Without scripts the form in the header finds the first two.

/** Of each kind. */
const SHOWN = 8
/** So long a pause in typing sends what was typed. Milliseconds. */
const PAUSE = 150
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const head = document.querySelector('[data-find]')
const json = { headers: { Accept: 'application/json' } }

/** @type {Promise<object> | null} */
let names = null

/** Files and branches, asked for when they are first looked for. */
function namesHere() {
  names ??= fetch(head.dataset.find, json)
    .then((answer) => (answer.ok ? answer.json() : null))
    .catch(() => null)
  return names
}

const encodePath = (path) => path.split('/').map(encodeURIComponent).join('/')

/**
 * How well a name fits; null: it does not. Every word must stand in it, or have its letters in it in their order. What is whole is
 * better than what is scattered, the end of a path than its directories, short than long.
 */
function fit(name, words) {
  const text = name.toLowerCase()
  const base = text.lastIndexOf('/') + 1
  let total = -text.length / 100
  for (const word of words) {
    const whole = text.lastIndexOf(word)
    if (whole !== -1) {
      total += 100 + (whole >= base ? 50 : 0) + (whole === base ? 50 : 0)
      continue
    }
    const first = text.indexOf(word[0])
    let at = first
    for (let i = 1; i < word.length && at !== -1; i++) at = text.indexOf(word[i], at + 1)
    if (at === -1) return null
    total += Math.max(0, 50 - (at - first - word.length + 1))
  }
  return total
}

function best(items, nameOf, words) {
  const found = []
  for (const item of items) {
    const score = fit(nameOf(item), words)
    if (score !== null) found.push({ item, score })
  }
  found.sort((a, b) => b.score - a.score)
  return found.slice(0, SHOWN).map(({ item }) => item)
}

async function findHere(query) {
  const found = head === null ? null : await namesHere()
  if (found === null) return { groups: [], note: '' }
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const { base } = head.dataset
  const files = best(found.paths, (path) => path, words).map((path) => ({
    label: path,
    href: `${base}/blob/${encodePath(found.revision)}/${encodePath(path)}`,
  }))
  const branches = best(found.branches, ({ name }) => name, words).map(({ name, revision }) => ({
    label: name,
    href: `${base}/tree/${encodePath(revision)}`,
  }))
  const groups = [
    { title: 'Files', options: files },
    { title: 'Branches', options: branches },
  ]
  return { groups, note: found.isCut ? `Only the first ${found.paths.length} files are looked through.` : '' }
}

async function findEverywhere(query, signal) {
  const answer = await fetch(`/search?q=${encodeURIComponent(query)}`, { ...json, signal })
  if (!answer.ok) throw new Error(`search: ${answer.status}`)
  const { repositories, accounts } = await answer.json()
  return [
    {
      title: 'Repositories',
      options: repositories.slice(0, SHOWN).map(({ actor, name, href, description }) => ({
        label: `${actor} / ${name}`,
        about: description,
        href,
      })),
    },
    { title: 'Accounts', options: accounts.slice(0, SHOWN).map(({ actor, href }) => ({ label: actor, href })) },
  ]
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const field = element('input', {
  type: 'text',
  role: 'combobox',
  'aria-label':
    head === null ? 'Search repositories and accounts' : 'Search files, branches, repositories and accounts',
  'aria-autocomplete': 'list',
  'aria-controls': 'palette-list',
  'aria-expanded': 'false',
  placeholder: head === null ? 'Repositories and accounts' : 'Files, branches, repositories, accounts',
  autocomplete: 'off',
  autocapitalize: 'off',
  spellcheck: 'false',
  enterkeyhint: 'go',
})
const list = element('div', { role: 'listbox', id: 'palette-list', 'aria-label': 'Found' })
const status = element('p', { role: 'status' })
const keys = element('p', { class: 'keys' }, '↑ ↓ choose, Enter opens, Shift-Enter: all results, Esc closes')
const dialog = element('dialog', { class: 'palette', 'aria-label': 'Search' }, field, list, status, keys)
list.hidden = true
document.body.append(dialog)

let options = []
let chosen = -1

function choose(place) {
  options[chosen]?.setAttribute('aria-selected', 'false')
  chosen = options.length === 0 ? -1 : (place + options.length) % options.length
  const option = options[chosen]
  if (option === undefined) {
    field.removeAttribute('aria-activedescendant')
    return
  }
  option.setAttribute('aria-selected', 'true')
  option.scrollIntoView({ block: 'nearest' })
  field.setAttribute('aria-activedescendant', option.id)
}

function optionOf({ label, about, href }) {
  const option = element('div', { role: 'option', 'aria-selected': 'false', 'data-href': href })
  option.append(element('bdi', {}, label.replace(UNSEEN, '\ufffd')))
  if (about) option.append(element('bdi', { class: 'about' }, about.replace(UNSEEN, ' ')))
  return option
}

/** @param groups those without options are left out */
function show(groups, note) {
  // What was chosen stays chosen when more is found.
  const before = chosen > 0 ? options[chosen]?.dataset.href : undefined
  const shown = groups.filter(({ options }) => options.length > 0)
  list.replaceChildren(
    ...shown.map(({ title, options }, place) => {
      const heading = element('div', { class: 'kind', id: `palette-kind-${place}`, role: 'presentation' }, title)
      return element('div', { role: 'group', 'aria-labelledby': heading.id }, heading, ...options.map(optionOf))
    }),
  )
  options = [...list.querySelectorAll('[role=option]')]
  for (const [i, option] of options.entries()) option.id = `palette-option-${i}`
  list.hidden = options.length === 0
  field.setAttribute('aria-expanded', String(!list.hidden))
  status.textContent = note
  chosen = -1
  choose(Math.max(0, before === undefined ? 0 : options.findIndex(({ dataset }) => dataset.href === before)))
}

let asking = new AbortController()
let timer = 0

async function find() {
  const query = field.value.trim()
  asking.abort()
  clearTimeout(timer)
  asking = new AbortController()
  const { signal } = asking
  if (query === '') {
    show([], '')
    return
  }
  const here = await findHere(query)
  if (signal.aborted) return
  show(here.groups, here.note || 'Looking…')
  timer = setTimeout(async () => {
    try {
      const groups = [...here.groups, ...(await findEverywhere(query, signal))]
      if (signal.aborted) return
      const isEmpty = groups.every(({ options }) => options.length === 0)
      show(groups, isEmpty ? `Nothing is called so. ${here.note}` : here.note)
    } catch {
      if (!signal.aborted) show(here.groups, 'Repositories cannot be searched now.')
    }
  }, PAUSE)
}

function allResults() {
  location.assign(`/search?q=${encodeURIComponent(field.value.trim())}`)
}

field.addEventListener('input', find)
field.addEventListener('keydown', (event) => {
  // Enter that ends the writing of a character is none of ours.
  if (event.isComposing) return
  if (event.key === 'ArrowDown') choose(chosen + 1)
  else if (event.key === 'ArrowUp') choose(chosen - 1)
  else if (event.key === 'Enter') {
    if (event.shiftKey || chosen === -1) allResults()
    else location.assign(options[chosen].dataset.href)
  } else return
  event.preventDefault()
})
list.addEventListener('click', (event) => {
  const option = event.target instanceof Element ? event.target.closest('[role=option]') : null
  if (option === null) return
  if (event.ctrlKey || event.metaKey) open(option.dataset.href, '_blank', 'noopener')
  else location.assign(option.dataset.href)
})
// A click beside it.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close()
})

addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')
  const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey
  const isCtrlK =
    event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  if (!isSlash && !isCtrlK) return
  event.preventDefault()
  if (dialog.open) return
  dialog.showModal()
  field.select()
})
