import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { escapeHtml } from '../../src/domain/people/letter.ts'
import { aWorld, type World } from '../stage/harness.ts'

let world: World

before(async () => {
  world = await aWorld()
})
after(() => world.stop())

type Document = {
  readonly paths: Record<string, Record<string, { readonly summary: string; readonly responses: object }>>
}

test('/docs shows every operation of /openapi.json with its method, path and summary, to anybody', async () => {
  const answer = await fetch(`${world.baseUrl}/docs`)
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

test('/docs says what a member is: type, bounds, whether it is required', async () => {
  const page = await fetch(`${world.baseUrl}/docs`).then((answer) => answer.text())
  assert.match(
    page,
    /<code class="name">name<\/code> <span class="type">string, 1 to \d+ characters<\/span> <span class="must">required<\/span>/,
  )
})
