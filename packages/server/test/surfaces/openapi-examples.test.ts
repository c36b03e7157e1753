import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { openApi } from '../../src/surfaces/admin/openapi/index.ts'
import { operationsOf, type OpenApi } from '../stage/openapi-document.ts'

test('the example of each parameter fits its schema', () => {
  const document = JSON.parse(JSON.stringify(openApi('https://hooks.example.com', '1.0.0'))) as OpenApi
  const shown = operationsOf(document).flatMap(({ path, method, operation }) =>
    (operation.parameters ?? []).flatMap((parameter) =>
      'example' in parameter ? [{ place: `${method} ${path} ${parameter.name}`, ...parameter }] : [],
    ),
  )
  assert.ok(shown.length > 300, `${shown.length} examples`)
  const wrong = shown.filter(({ schema, example }) => !z.fromJSONSchema(schema).safeParse(example).success)
  assert.deepEqual(
    wrong.map(({ place, example }) => `${place}: ${JSON.stringify(example)}`),
    [],
  )
})
