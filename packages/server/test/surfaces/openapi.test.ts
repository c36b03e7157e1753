import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { ServedDocument } from '../../src/surfaces/docs/served-document.ts'
import { ALL, call, enterPlaces, home, leavePlaces, world } from '../stage/admin-asking.ts'
import { openapi } from '../stage/openapi-document.ts'
import { example } from '../stage/route-examples.ts'

/** The document that describes the admin API says what the contract says. */
before(enterPlaces)
after(leavePlaces)

test('/openapi.json is OpenAPI 3.1 and has every route of the contract, twice where there is an alias', async () => {
  const response = await fetch(`${world.baseUrl}/openapi.json`)
  const document = await openapi()
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
      assert.ok(
        Object.entries(operation.responses).every(
          ([status, { description }]) => /^(\d{3}|default)$/.test(status) && description !== '',
        ),
      )
      assert.notEqual(operation.summary, '')
      if (operation.operationId !== undefined) ids.push(operation.operationId)
    }
  }
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique')
  const expected = ALL.flatMap(({ name, route }) => (route.area === 'project' ? [name, `${name}.default`] : [name]))
  assert.deepEqual(
    expected.filter((name) => !ids.includes(name)),
    [],
  )
  for (const [, name] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g))
    assert.ok(document.components.schemas[name ?? ''])
  const error = z.fromJSONSchema(document.components.schemas['Error'] as z.core.JSONSchema.JSONSchema)
  assert.equal(error.safeParse((await call(home, 'GET nothing')).body).success, true)
})

const ask = (headers: Record<string, string>): Promise<Response> => fetch(`${world.baseUrl}/openapi.json`, { headers })

test('it is answered in the coding that the client takes, and 304 to a client that has it', async () => {
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
  assert.equal(tags.size, 3, 'a strong tag is of the bytes as they are sent')
})

test('it is built once for the address where the server is reached', () => {
  const built: string[] = []
  const served = new ServedDocument((base) => ({ base, count: built.push(base) }))
  for (const base of ['http://a', 'http://a', 'http://b', 'http://b']) assert.equal(served.at(base).base, base)
  assert.deepEqual(built, ['http://a', 'http://b'])
})

test('the body that each route takes is one that the document allows', async () => {
  const document = await openapi()
  for (const named of ALL.filter(({ route }) => route.body !== undefined)) {
    const operation = document.paths[`/admin/api/${named.route.path}`]?.[named.route.method.toLowerCase()]
    const schema = operation?.requestBody?.content['application/json']?.schema
    const asked = await example(named, home)
    assert.equal(
      z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(asked.body).success,
      true,
      named.name,
    )
  }
})
