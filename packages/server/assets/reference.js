// oxlint-disable-next-line import/no-unassigned-import -- every page of the documentation has the search
import './docs.js'

const field = document.querySelector('#filter')
const nothing = document.querySelector('#nothing')
const operations = [...document.querySelectorAll('.operation')].map((element) => ({
  element,
  words: element.querySelector('summary').textContent.toLowerCase(),
}))

function filter() {
  const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const { element, words } of operations) element.hidden = !wanted.every((word) => words.includes(word))
  for (const section of document.querySelectorAll('#page section'))
    section.hidden = section.querySelector('.operation:not([hidden])') === null
  nothing.hidden = operations.some(({ element }) => !element.hidden)
}

/** A link to an operation or to a schema opens it. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  target.scrollIntoView()
}

field.addEventListener('input', filter)
addEventListener('hashchange', openTarget)
filter()
openTarget()
