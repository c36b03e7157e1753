/* The search of the documentation, the buttons that copy its code, and the contents that fold on a narrow screen. */
const field = document.querySelector('#search')
const found = document.querySelector('#found')
const page = document.querySelector('#page')
const here = document.querySelector('.rooms a[aria-current]')
const SHOWN_MAX = 30
const COPIED_MS = 1_400
let sections

/** Loads what a search looks through, with the first search. */
function load() {
  sections ??= fetch('/docs/search.json').then((answer) => answer.json())
  return sections
}

function score({ title, page: of, text }, words) {
  const heading = `${title} ${of}`.toLowerCase()
  const whole = `${heading} ${text.toLowerCase()}`
  if (!words.every((word) => whole.includes(word))) return 0
  return 1 + words.filter((word) => heading.includes(word)).length
}

/** Whole words around the first match, with each match in bold. */
function excerpt(text, words) {
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)))
  const from = at < 60 ? 0 : text.lastIndexOf(' ', at - 40) + 1
  const end = text.indexOf(' ', at + 120)
  const piece = `${from > 0 ? '… ' : ''}${end === -1 ? text.slice(from) : `${text.slice(from, end)} …`}`
  const matches = new RegExp(
    `(${words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')})`,
    'i',
  )
  return piece.split(matches).map((part, index) => (index % 2 === 1 ? element('mark', { text: part }) : part))
}

function element(name, { text, ...attributes }, ...children) {
  const made = Object.assign(document.createElement(name), attributes)
  if (text !== undefined) made.textContent = text
  made.append(...children)
  return made
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  found.hidden = words.length === 0
  page.hidden = words.length > 0
  // The results belong to no page of the list.
  if (words.length > 0) here?.removeAttribute('aria-current')
  else here?.setAttribute('aria-current', 'page')
  if (words.length === 0) return
  load().then(
    (all) => show(all, words),
    () => {
      sections = undefined
      found.replaceChildren(
        element('h1', { text: 'No answer from the server' }),
        element('p', { text: 'Check that the server runs, then search again.' }),
      )
    },
  )
}

function show(all, words) {
  const hits = all
    .map((section) => ({ section, rank: score(section, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
  const shown = hits
    .slice(0, SHOWN_MAX)
    .map(({ section }) =>
      element(
        'li',
        {},
        element('a', { href: section.url, text: section.title }),
        ...(section.page === section.title ? [] : [element('span', { className: 'type', text: ` · ${section.page}` })]),
        element('p', {}, ...excerpt(section.text, words)),
      ),
    )
  const count = hits.length === 1 ? '1 result' : `${hits.length} results`
  found.replaceChildren(
    element('h1', { text: hits.length === 0 ? 'No results' : count }),
    hits.length === 0
      ? element('p', { text: 'No page has all of these words. Try fewer words.' })
      : element('ul', { className: 'results' }, ...shown),
  )
}

field.addEventListener('input', search)
found.addEventListener('click', ({ target }) => {
  if (target.closest('a') === null) return
  field.value = ''
  search()
})
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && document.activeElement === field) {
    field.value = ''
    search()
  }
  if (event.key !== '/' || document.activeElement instanceof HTMLInputElement) return
  event.preventDefault()
  field.focus()
})
/** A button that copies a block of code. The reference has too many blocks for a button in each from the start. */
function addCopy({ target }) {
  const block = target.closest('pre')
  if (block === null || block.parentElement.className === 'code') return
  const button = element('button', { type: 'button', className: 'copy', text: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent.trimEnd())
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, COPIED_MS)
  })
  const hadFocus = document.activeElement === block
  const code = element('div', { className: 'code' })
  block.replaceWith(code)
  code.append(block, button)
  if (hadFocus) block.focus()
}

// Without TLS a browser has no clipboard.
if (navigator.clipboard !== undefined) {
  page.addEventListener('pointerover', addCopy)
  page.addEventListener('focusin', addCopy)
}
const narrow = matchMedia('(max-width: 760px)')
const fold = () => (document.querySelector('.contents').open = !narrow.matches)
fold()
narrow.addEventListener('change', fold)
