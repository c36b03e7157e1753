/** The first run: trades the link's token for a session, then shows the endpoint and its newest events once a second. */
import { api } from './api.js'

const $ = (id) => document.getElementById(id)
const SAMPLE = { type: 'order.created', total: 42.5, items: 3 }
const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }
const GLYPHS = { delivered: '●', pending: '◌', sending: '◌', retrying: '▲', failed: '■', paused: '❚❚', cancelled: '∅' }

async function signIn() {
  const token = new URLSearchParams(location.hash.slice(1)).get('t')
  if (token === null) return
  history.replaceState(null, '', location.pathname)
  await api('POST', 'session', { token })
}

function showSignedOut(reason) {
  if (reason !== undefined) $('why').textContent = `${reason} Then open the link it prints.`
  $('signed-out').hidden = false
}

function showEndpoint(webhook, me) {
  $('place').textContent = `${me.workspace.slug} / ${me.default_project.slug}`
  $('url').textContent = webhook.public_url
  $('command').textContent = `curl ${webhook.public_url} \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(SAMPLE)}'`
  $('signed-in').hidden = $('own').hidden = false
  $('send').addEventListener('click', () => void send(webhook.public_path))
}

async function send(path) {
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(SAMPLE) })
  const answer = await response.json()
  $('sent').textContent = response.ok ? `${response.status}: stored as ${answer.id}` : answer.error
  await refresh()
}

async function refresh() {
  try {
    const [{ records }, { deliveries }] = await Promise.all([api('GET', 'records?limit=20'), api('GET', 'deliveries?limit=200')])
    $('state').textContent = 'Listening'
    $('state').className = 'state'
    showEvents(records, deliveries)
  } catch (error) {
    $('state').textContent = error.status === 401 ? 'Signed out' : 'Reconnecting'
    $('state').className = 'state lost'
  }
}

function showEvents(records, deliveries) {
  if (records.length === 0) return
  $('title').textContent = 'Your endpoint works'
  $('lead').textContent =
    deliveries.length === 0
      ? 'Every event below is stored. Add a destination, and each one is delivered to it, signed and retried.'
      : 'Every event below is stored, and delivered to each destination that matches it: signed, and retried until it arrives.'
  $('events').hidden = $('events-title').hidden = false
  $('events').tBodies[0].replaceChildren(...records.map((record) => row(record, deliveries.filter((one) => one.record_id === record.id))))
  showTrack(records, deliveries)
}

function row(record, deliveries) {
  const tr = document.createElement('tr')
  tr.append(
    cell('time', new Date(record.received_at).toLocaleTimeString('en-GB', TIME)),
    cell('', record.dataset),
    cell('payload', JSON.stringify(record.data)),
    deliveries.length === 0 ? cell('none', 'no destination') : states(deliveries),
  )
  return tr
}

function cell(className, text) {
  const td = document.createElement('td')
  td.className = className
  td.textContent = text
  return td
}

function states(deliveries) {
  const td = document.createElement('td')
  for (const { state, last_status: status } of deliveries) {
    const span = document.createElement('span')
    span.className = state
    span.textContent = `${GLYPHS[state]} ${state}${status === null ? '' : ` ${status}`}  `
    td.append(span)
  }
  return td
}

const TRACK_MS = 60_000

function showTrack(records, deliveries) {
  const failing = new Set(deliveries.filter((one) => one.state === 'failed' || one.state === 'retrying').map((one) => one.record_id))
  const dots = records
    .map((record) => ({ age: Date.now() - Date.parse(record.received_at), failed: failing.has(record.id) }))
    .filter(({ age }) => age < TRACK_MS)
    .map(({ age, failed }) => {
      const dot = document.createElement('i')
      dot.style.left = `${100 - (100 * Math.max(0, age)) / TRACK_MS}%`
      if (failed) dot.className = 'failed'
      return dot
    })
  $('track').replaceChildren($('track').querySelector('.now'), ...dots)
}

async function copy(button) {
  await navigator.clipboard.writeText($(button.dataset.copy).textContent)
  button.textContent = 'Copied'
  setTimeout(() => (button.textContent = 'Copy'), 1_500)
}

async function signOut() {
  await api('DELETE', 'session')
  location.assign('/sign-in')
}

$('sign-out').addEventListener('click', () => void signOut())

for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', () => void copy(button))
}

try {
  await signIn()
  const [me, { webhooks }] = await Promise.all([api('GET', 'me'), api('GET', 'webhooks?limit=200')])
  showEndpoint(webhooks.at(-1), me)
  await refresh()
  setInterval(refresh, 1_000)
} catch (error) {
  showSignedOut(error.status === 401 ? undefined : error.message)
}
