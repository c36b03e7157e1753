import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { z } from 'zod'
import { ServedDocument } from '../../src/surfaces/docs/served-document.ts'
import { ALL, call, created, enterPlacesWith, home, leavePlaces, world } from '../stage/admin-asking.ts'
import { answerOf, openapi, operationsOf, parserOf, reasonsIn } from '../stage/openapi-document.ts'

/** The document that describes the admin API agrees with the contract. */
before(() => enterPlacesWith({ ROLES: 'web' }))
after(leavePlaces)

test('/openapi.json is OpenAPI 3.1 and has every route of the contract, twice where there is an alias', async () => {
  const response = await fetch(`${world.baseUrl}/openapi.json`)
  const document = await openapi(world.baseUrl)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: world.baseUrl }])
  const ids: string[] = []
  for (const [path, item] of Object.entries(document.paths)) {
    assert.match(path, /^\/[^?#]*$/)
    for (const [method, operation] of Object.entries(item)) {
      assert.match(method, /^(get|post|put|patch|delete)$/)
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
      assert.deepEqual(declared.map(({ name }) => name).toSorted(), inPath.toSorted(), `${method} ${path}`)
      assert.ok(declared.every(({ required }) => required))
      for (const status of Object.keys(operation.responses)) {
        assert.match(status, /^(\d{3}|default)$/)
        assert.notEqual(answerOf(document, operation, status)?.description ?? '', '')
      }
      assert.notEqual(operation.summary, '')
      ids.push(operation.operationId)
    }
  }
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique')
  const expected = ALL.flatMap(({ name, route }) => (route.area === 'project' ? [name, `${name}.default`] : [name]))
  assert.deepEqual(
    expected.filter((name) => !ids.includes(name)),
    [],
  )
  const error = parserOf(document, { $ref: '#/components/schemas/Error' })
  assert.equal(error.safeParse((await call(home, 'GET nothing')).body).success, true)
})

test('a named schema is described once and referred to, and every named schema has a reference', async () => {
  const document = await openapi(world.baseUrl)
  const { schemas, responses } = document.components
  for (const name of ['Delivery', 'Attempt', 'Destination', 'Webhook', 'Rule', 'IngestKey', 'Record', 'Project'])
    assert.ok(name in schemas, name)
  const used = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/\w+\/([^"]+)"/g)].map(([, name]) => name),
  )
  assert.deepEqual(
    [...used].filter((name = '') => !(name in schemas) && !(name in responses)),
    [],
  )
  assert.deepEqual(
    [...Object.keys(schemas), ...Object.keys(responses)].filter((name) => !used.has(name)),
    [],
  )
  const list = document.paths['/admin/api/deliveries']?.['get']
  assert.ok(list)
  const items = answerOf(document, list, '200')?.content?.['application/json']?.schema as {
    properties: { deliveries: { items: object } }
  }
  assert.deepEqual(items.properties.deliveries.items, { $ref: '#/components/schemas/ListedDelivery' })
})

test('every operation has an id, a described tag, an answer for success and at least one for refusal', async () => {
  const document = await openapi(world.baseUrl)
  const tags = new Map(document.tags.map(({ name, description }) => [name, description]))
  for (const { path, method, operation } of operationsOf(document)) {
    const line = `${method} ${path}`
    assert.match(operation.operationId, /^[a-zA-Z]+\.[a-zA-Z]+(?:\.default)?$/, line)
    // This operation only answers 501.
    if (operation.operationId === 'sso.replace') continue
    for (const tag of operation.tags) assert.match(tags.get(tag) ?? '', /\.$/, `${line} ${tag}`)
    const statuses = Object.keys(operation.responses)
    assert.ok(
      statuses.some((status) => status.startsWith('2')),
      line,
    )
    const refusals = statuses.filter((status) => status.startsWith('4'))
    assert.ok(refusals.length > 0, line)
    for (const status of refusals)
      assert.notDeepEqual(reasonsIn(document, operation, Number(status)), [], `${line} ${status}`)
  }
})

test('every operation has an example of its body and of its answer, which the document allows', async () => {
  const document = await openapi(world.baseUrl)
  for (const { path, method, operation } of operationsOf(document)) {
    const line = `${method} ${path}`
    const answer = Object.keys(operation.responses).find((status) => /^20\d$/.test(status)) ?? ''
    const shown = Object.entries(answerOf(document, operation, answer)?.content ?? {})
    for (const [type, media] of [...shown, ...Object.entries(operation.requestBody?.content ?? {})]) {
      if (!type.startsWith('application/json')) continue
      assert.ok('example' in media, `${line} ${type}`)
      const { error } = parserOf(document, media.schema).safeParse(media.example)
      assert.equal(error, undefined, `${line}: ${JSON.stringify(media.example)}`)
      assert.doesNotMatch(JSON.stringify(media.example), /[:[]"text"/, `${line} has an example without meaning.`)
    }
  }
})

const variables = (path: readonly string[]): number => path.filter((part) => part.startsWith('{')).length

test('no two paths match the same address', async () => {
  const document = await openapi(world.baseUrl)
  const paths = Object.keys(document.paths).map((path) => path.split('/'))
  for (const [index, one] of paths.entries()) {
    for (const other of paths.slice(index + 1)) {
      // A path with fewer variables is the more exact one, and is found first.
      if (one.length !== other.length || variables(one) !== variables(other)) continue
      const alike = one.every((part, at) => part === other[at] || part.startsWith('{') || other[at]?.startsWith('{'))
      assert.equal(alike, false, `${one.join('/')} and ${other.join('/')}`)
    }
  }
})

test('replays still answer at their previous paths, which the document does not name', async () => {
  const document = await openapi(world.baseUrl)
  assert.ok('/admin/api/replays/{id}' in document.paths)
  assert.ok(!Object.keys(document.paths).some((path) => path.includes('deliveries/replays')))
  for (const path of ['replays', 'deliveries/replays', `projects/${home.project}/deliveries/replays`])
    assert.deepEqual((await call(home, `GET ${path}`)).body, { replays: [], next_cursor: null })
})

test('the answers of ingest agree with their description', async () => {
  const document = await openapi(world.baseUrl)
  const { webhook } = await created(home, 'webhooks', {})
  const operation = document.paths['/{workspace}/{project}/{webhook}']?.['post']
  assert.ok(operation)
  const parsed = (status: number): z.ZodType =>
    parserOf(document, answerOf(document, operation, String(status))?.content?.['application/json']?.schema)
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' }
  for (const status of [201, 200]) {
    const answer = await fetch(webhook.public_url, { method: 'POST', headers, body: '{"a":1}' })
    assert.equal(answer.status, status)
    assert.equal(parsed(status).safeParse(await answer.json()).error, undefined)
  }
  for (const [body, status] of [
    ['{"a":', 400],
    ['{"a":2}', 422],
  ] as const) {
    const answer = await fetch(webhook.public_url, { method: 'POST', headers, body })
    assert.equal(answer.status, status)
    const refused = (await answer.json()) as { reason: string }
    assert.equal(parsed(status).safeParse(refused).error, undefined)
    assert.ok(reasonsIn(document, operation, status).includes(refused.reason), refused.reason)
  }
})

const ask = (headers: Record<string, string>): Promise<Response> => fetch(`${world.baseUrl}/openapi.json`, { headers })

test('the document is sent in the encoding that the client accepts, and as 304 to a client that has it', async () => {
  const plain = await (await ask({ 'accept-encoding': 'identity' })).text()
  const tags = new Set<string>()
  for (const [accepted, coding] of [
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0, gzip', 'gzip'],
  ] as const) {
    const answer = await ask({ 'accept-encoding': accepted })
    assert.deepEqual([answer.status, answer.headers.get('content-encoding')], [200, coding])
    assert.match(answer.headers.get('vary') ?? '', /accept-encoding/i)
    assert.equal(await answer.text(), plain)
    const etag = answer.headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]+"$/)
    tags.add(etag)
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await ask({ 'accept-encoding': accepted, 'if-none-match': known })
      assert.deepEqual([again.status, again.headers.get('etag'), await again.text()], [304, etag, ''])
    }
    assert.equal((await ask({ 'accept-encoding': accepted, 'if-none-match': '"other"' })).status, 200)
  }
  assert.equal(tags.size, 3, 'a strong tag covers the bytes as sent')
})

test('the document is built once for the address under which clients reach the server', () => {
  const built: string[] = []
  const served = new ServedDocument((base) => ({ base, count: built.push(base) }))
  for (const base of ['http://a', 'http://a', 'http://b', 'http://b']) assert.equal(served.at(base).base, base)
  assert.deepEqual(built, ['http://a', 'http://b'])
})
