const field = document.querySelector('#filter')
const nothing = document.querySelector('#nothing')
const operations = [...document.querySelectorAll('.operation')].map((element) => ({
  element,
  words: element.querySelector('summary').textContent.toLowerCase(),
}))

function filter() {
  const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const { element, words } of operations) element.hidden = !wanted.every((word) => words.includes(word))
  for (const section of document.querySelectorAll('main section'))
    section.hidden = section.querySelector('.operation:not([hidden])') === null
  nothing.hidden = operations.some(({ element }) => !element.hidden)
}

field.addEventListener('input', filter)
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || document.activeElement === field) return
  event.preventDefault()
  field.focus()
})
filter()
