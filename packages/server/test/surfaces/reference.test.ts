import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERROR_CODES, REASONS } from '@postroad/contract'
import { escapeHtml } from '../../src/domain/people/email-text.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

type Document = {
  readonly paths: Record<string, Record<string, { readonly summary: string; readonly responses: object }>>
}

test('/docs/api shows every operation of /openapi.json with its method, path and summary to everyone', async () => {
  const answer = await fetch(`${world.baseUrl}/docs/api`)
  const page = await answer.text()
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/html; charset=utf-8'])
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- OpenAPI 3.1 has this shape
  const { paths } = (await fetch(`${world.baseUrl}/openapi.json`).then((response) => response.json())) as Document
  for (const [url, methods] of Object.entries(paths)) {
    for (const [method, { summary }] of Object.entries(methods)) {
      const head = `<span class="method ${method}">${method}</span> <code>${escapeHtml(url)}</code> <span class="summary">${escapeHtml(summary)}</span>`
      assert.ok(page.includes(head), `${method} ${url} is not on the page.`)
    }
  }
})

test('/docs/api describes each member: its type, its bounds, and whether it is required', async () => {
  const page = await fetch(`${world.baseUrl}/docs/api`).then((answer) => answer.text())
  assert.match(
    page,
    /<code class="name">name<\/code> <span class="type">string, 1 to \d+ characters<\/span> <span class="must">required<\/span>/,
  )
})

test('/docs/api links each named schema to its members, and each reason to its remedy', async () => {
  const page = await fetch(`${world.baseUrl}/docs/api`).then((answer) => answer.text())
  assert.ok(page.includes('list of <a href="#schema-ListedDelivery">ListedDelivery</a>'))
  assert.ok(page.includes('<details class="operation" id="schema-ListedDelivery">'))
  assert.ok(page.includes('<a href="/docs/errors#name_taken"><code>name_taken</code></a>'))
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const links = [...page.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id)
  assert.deepEqual(
    links.filter((id) => !ids.has(id)),
    [],
  )
})

const GUIDES = [
  '',
  '/verify',
  '/route',
  '/deliver',
  '/recover',
  '/programs',
  '/errors',
  '/retries',
  '/run',
  '/configure',
]

test('each guide is a page that loads nothing from elsewhere and links only to existing pages', async () => {
  const targets = new Set<string>()
  for (const guide of GUIDES) {
    const answer = await fetch(`${world.baseUrl}/docs${guide}`)
    const page = await answer.text()
    assert.equal(answer.status, 200, guide)
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(page, /<h1 id="[\w-]+">/, guide)
    for (const [, url = ''] of page.matchAll(/ src="([^"]+)"/g)) assert.match(url, /^\/assets\//)
    for (const [, url = ''] of page.matchAll(/ href="([^"]+)"/g)) if (url.startsWith('/docs')) targets.add(url)
    assert.doesNotMatch(page, /href="[^"]*\.md/, guide)
  }
  for (const target of targets) {
    const [path = '', anchor] = target.split('#')
    const page = await fetch(world.baseUrl + path).then(async (answer) => ({
      status: answer.status,
      text: await answer.text(),
    }))
    assert.equal(page.status, 200, target)
    if (anchor !== undefined) assert.ok(page.text.includes(` id="${anchor}"`), target)
  }
})

test('the guide on errors has every reason of the contract and every code of an attempt', async () => {
  const page = await fetch(`${world.baseUrl}/docs/errors`).then((answer) => answer.text())
  for (const word of [...Object.keys(REASONS), ...ERROR_CODES]) assert.ok(page.includes(`<tr id="${word}">`), word)
})

test('a search covers the guides and the operations', async () => {
  const sections = (await fetch(`${world.baseUrl}/docs/search.json`).then((answer) => answer.json())) as {
    page: string
    title: string
    url: string
    text: string
  }[]
  const found = (word: string): string[] =>
    sections.filter(({ title, text }) => `${title} ${text}`.includes(word)).map(({ url }) => url)
  assert.ok(found('Stripe-Signature').includes('/docs/verify#choose-a-scheme'))
  assert.ok(found('Replay deliveries in bulk').includes('/docs/api#replays.create'))
  assert.equal(new Set(sections.map(({ url }) => url)).size, sections.length)
})
