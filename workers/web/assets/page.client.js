// What pages gain where scripts run. Without it nothing is missing but convenience.

const root = document.documentElement

function toggleTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const next = (root.dataset.theme ?? system) === 'dark' ? 'light' : 'dark'
  root.dataset.theme = next
  try {
    // Whoever goes back to what the system says follows it again.
    if (next === system) localStorage.removeItem('theme')
    else localStorage.setItem('theme', next)
  } catch {
    // It holds for this page, then.
  }
}

const toggle = document.getElementById('theme')
if (toggle !== null) {
  toggle.hidden = false
  toggle.addEventListener('click', toggleTheme)
}

for (const button of document.querySelectorAll('[data-copy]')) {
  const field = document.getElementById(button.dataset.copy)
  if (field === null || navigator.clipboard === undefined) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(field.value)
    button.classList.add('done')
    setTimeout(() => button.classList.remove('done'), 1500)
  })
}
for (const field of document.querySelectorAll('.copy input')) field.addEventListener('focus', () => field.select())

// One menu at a time, closed by Escape and by a click beside it.
const menus = document.querySelectorAll('[data-menu]')
addEventListener('click', (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false
})
addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  for (const menu of menus) {
    if (!menu.open) continue
    menu.open = false
    menu.querySelector('summary')?.focus()
  }
})

// Lines: `#L10`, or `#L10-L20` by a second click with Shift held.
const lines = document.querySelector('[data-lines]')

function chosenLines() {
  const match = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash)
  if (match === null) return null
  const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])]
  return [Math.min(first, last), Math.max(first, last)]
}

function markLines() {
  for (const row of lines.querySelectorAll('.chosen')) row.classList.remove('chosen')
  const chosen = chosenLines()
  const link = document.querySelector('[data-permalink]')
  if (link !== null) link.hash = chosen === null ? '' : location.hash
  if (chosen === null) return
  const [first, last] = chosen
  for (let line = first; line <= last; line++) {
    const row = document.getElementById(`L${line}`)
    if (row === null) break
    row.classList.add('chosen')
  }
}

if (lines !== null) {
  markLines()
  // A range is no element's id: the browser does not scroll to it.
  const chosen = chosenLines()
  if (chosen !== null && chosen[0] !== chosen[1])
    document.getElementById(`L${chosen[0]}`)?.scrollIntoView({ block: 'center' })
  addEventListener('hashchange', markLines)
  lines.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('.n a') : null
    const chosen = chosenLines()
    if (link === null || !event.shiftKey || chosen === null) return
    event.preventDefault()
    const line = Number(link.hash.slice(2))
    const range = line < chosen[0] ? `${line}-L${chosen[1]}` : `${chosen[0]}-L${line}`
    history.replaceState(null, '', `#L${range}`)
    markLines()
  })
}
