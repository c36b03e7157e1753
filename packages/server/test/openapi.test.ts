import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { ALL, call, enterPlaces, home, leavePlaces, world } from './admin-asking.ts'
import { openapi } from './openapi-document.ts'
import { example } from './route-examples.ts'

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
      assert.ok(Object.entries(operation.responses).every(([status, { description }]) => /^(\d{3}|default)$/.test(status) && description !== ''))
      assert.notEqual(operation.summary, '')
      if (operation.operationId !== undefined) ids.push(operation.operationId)
    }
  }
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique')
  const expected = ALL.flatMap(({ name, route }) => (route.area === 'project' ? [name, `${name}.default`] : [name]))
  assert.deepEqual(expected.filter((name) => !ids.includes(name)), [])
  for (const [, name] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) assert.ok(document.components.schemas[name ?? ''])
  const error = z.fromJSONSchema(document.components.schemas['Error'] as z.core.JSONSchema.JSONSchema)
  assert.equal(error.safeParse((await call(home, 'GET nothing')).body).success, true)
})

test('the body that each route takes is one that the document allows', async () => {
  const document = await openapi()
  for (const named of ALL.filter(({ route }) => route.body !== undefined)) {
    const operation = document.paths[`/admin/api/${named.route.path}`]?.[named.route.method.toLowerCase()]
    const schema = operation?.requestBody?.content['application/json']?.schema
    const asked = await example(named, home)
    assert.equal(z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(asked.body).success, true, named.name)
  }
})
