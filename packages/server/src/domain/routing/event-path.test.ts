import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Condition, Mappings } from '@postroad/contract'
import { receivedView, storedView } from '../capture/request-view.ts'
import { storedQuery } from '../capture/request-query.ts'
import { storedHeaders } from '../capture/stored-headers.ts'
import { compileConditions, type ConditionFailure } from './condition.ts'
import { compileEventPath, readEvent, type EventSource } from './event-path.ts'
import { explain } from './explain.ts'
import { compileMappings } from './mapping.ts'

const KEY = 'ik_0123456789abcdef0123456789'
const HEADERS = {
  'x-github-event': 'push',
  'x-tags': 'a, b',
  authorization: 'Bearer abc',
  'x-proof': 'swordfish',
  referer: `https://example.com/?key=${KEY}`,
}
const TARGET = `/v1/ingest/${KEY}/orders?tenant=acme&tag=new&tag=old&api_key=k`
const RECEIVED = { headers: HEADERS, target: TARGET, credential: KEY, token: 'x-proof' }
const PAYLOAD = { $request: { method: 'kept' }, id: 7 }
const SOURCE: EventSource = { payload: PAYLOAD, request: receivedView(RECEIVED) }
const WITHOUT: EventSource = { payload: PAYLOAD, request: null }

const read = (path: string, source = SOURCE): unknown => readEvent(source, compileEventPath(path))
const failure = (condition: unknown, source = SOURCE): ConditionFailure | undefined =>
  compileConditions([Condition.parse(condition)], 'text').firstFailure(source)
const holds = (condition: unknown, source = SOURCE): boolean => failure(condition, source) === undefined

test('a path reads the payload, and with $request the headers, the query string, the method and the path', () => {
  const cases: readonly (readonly [path: string, value: unknown])[] = [
    ['id', 7],
    ['$request.headers.x-github-event', 'push'],
    ['$request.headers.x-tags', 'a, b'],
    ['$request.headers.x-none', undefined],
    ['$request.query.tenant', 'acme'],
    ['$request.query.tag', ['new', 'old']],
    ['$request.query.tag.1', 'old'],
    ['$request.method', 'POST'],
    ['$request.path', '/v1/ingest/•••/orders'],
    [String.raw`\$request.method`, 'kept'],
    [String.raw`\$request`, { method: 'kept' }],
    ['id.$request', undefined],
  ]
  for (const [path, value] of cases) assert.deepEqual(read(path), value, path)
  for (const [path] of cases.filter(([one]) => one.startsWith('$'))) assert.equal(read(path, WITHOUT), undefined, path)
})

test('an inherited member of the request has no value', () => {
  for (const path of ['$request.headers.constructor', '$request.query.__proto__', '$request.query.tag.length'])
    assert.equal(read(path), undefined, path)
})

describe('a masked value', () => {
  const masked = ['headers.authorization', 'headers.x-proof', 'headers.referer', 'query.api_key']

  test('reads as dots', () => {
    for (const name of masked) assert.match(String(read(`$request.${name}`)), /•••$/, name)
  })

  test('matches no condition, whatever its op', () => {
    const rest = [
      { op: 'exists' },
      { op: 'not_equals', value: 'x' },
      { equals: '•••' },
      { op: 'contains', value: '•' },
      { op: 'regex', value: '.' },
      { op: 'in', value: ['•••', 'Bearer abc', 'swordfish', 'k'] },
    ]
    for (const name of masked)
      for (const one of rest)
        assert.equal(holds({ path: `$request.${name}`, ...one }), false, `${name} ${JSON.stringify(one)}`)
    assert.equal(holds({ path: '$request.headers.x-github-event', op: 'not_equals', value: 'x' }), true)
    assert.equal(holds({ path: '$request.path', op: 'regex', value: '/orders$' }), true)
  })
})

test('the trace says which header was seen', () => {
  const condition = { path: '$request.headers.x-github-event', equals: 'ping' }
  const failed = explain(compileConditions([Condition.parse(condition)], 'text'), SOURCE)
  assert.deepEqual(failed, { index: 0, path: condition.path, op: 'equals', expected: 'ping', saw: 'push' })
})

test('a mapping takes values of the request', () => {
  const mappings = Mappings.parse([
    { target: 'event', path: '$request.headers.x-github-event', transform: 'uppercase' },
    { target: 'tags', path: '$request.query.tag' },
    { target: 'none', path: '$request.headers.x-none', default: 'n' },
    { target: '$request.headers', path: 'id' },
  ])
  assert.deepEqual(compileMappings(mappings)(SOURCE), {
    data: { event: 'PUSH', tags: ['new', 'old'], none: 'n', $request: { headers: 7 } },
  })
})

test('a stored request reads as the received one did', () => {
  const stored = storedView({
    headers: storedHeaders(HEADERS, { credential: KEY, token: 'x-proof' }),
    query: storedQuery(TARGET, KEY),
    path: '/v1/ingest/•••/orders',
  })
  const { request } = SOURCE
  assert.deepEqual(structuredClone(stored), structuredClone(request))
})

test('a path that names no part of a request is refused with the parts that there are', () => {
  const refused = [
    '$request',
    '$request.body',
    '$request.headers',
    '$request.query',
    '$request.method.x',
    '$request.headers.a.b',
  ]
  for (const path of refused)
    assert.match(
      Condition.safeParse({ path, op: 'exists' }).error?.issues[0]?.message ?? '',
      /\$request\.headers\.<name>/,
      path,
    )
  assert.match(
    Condition.safeParse({ path: '$request.headers.X-GitHub-Event', op: 'exists' }).error?.issues[0]?.message ?? '',
    /lower case/,
  )
  for (const path of ['$requests.a', 'a.$request', String.raw`\$request.body`])
    assert.equal(Condition.safeParse({ path, op: 'exists' }).success, true, path)
})
