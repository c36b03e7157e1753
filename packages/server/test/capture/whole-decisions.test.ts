import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { encodeId, type Condition, type Mapping } from '@postroad/contract'
import * as fc from 'fast-check'
import { storedPath, receivedView } from '../../src/domain/capture/request-view.ts'
import { storedQuery } from '../../src/domain/capture/request-query.ts'
import { storedHeaders } from '../../src/domain/capture/stored-headers.ts'
import { stringifyJson } from '../../src/domain/json/json-text.ts'
import { UNLIMITED } from '../../src/domain/work-budget.ts'
import { decide, type Routable } from '../../src/pipeline/route/decide.ts'
import { compileShares, partsOf } from '../../src/pipeline/route/plan-parts.ts'
import { compileRouting, type RoutingRows } from '../../src/pipeline/route/routing.ts'
import { explainStored } from '../../src/tasks/explain-decision.ts'
import type { PlanPart } from '../../src/resources/capture/routing-plans/index.ts'
import { readStored, type StoredBody } from '../../src/tasks/read-stored.ts'
import { fullDecision } from '../stage/full-decision.ts'

/** The stored matches, with the settings and the stored event, give the decision with every reason. */

const DATASETS = ['orders', 'people', 'large']
const CREDENTIAL = 'whk_0123456789abcdefghij'
const scalar = fc.constantFrom('a', 'order', '1', '1.50', 1, 1.5, 0, true, null)
const path = fc.constantFrom(
  'kind',
  'kind',
  'total',
  'total',
  'made.0.x',
  'note',
  '$request.headers.x-kind',
  '$request.headers.authorization',
  '$request.query.q',
  '$request.path',
)
const condition = fc.oneof(
  fc.record({ path, equals: scalar }),
  fc.record({ path, equals: scalar }),
  fc.record({ path, op: fc.constant('not_equals'), value: scalar }),
  fc.record({ path, op: fc.constant('in'), value: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ path, op: fc.constantFrom('contains', 'regex'), value: fc.constantFrom('o', '1') }),
  fc.record({ path, op: fc.constantFrom('gt', 'lte'), value: fc.constantFrom(0, 1.5) }),
  fc.record({ path, op: fc.constant('exists') }),
) as fc.Arbitrary<Condition>
const conditions = fc.array(condition, { maxLength: 2 })
const mapping = fc.oneof(
  fc.record({ target: fc.constantFrom('kind', 'made.1.x', 'total'), path }),
  fc.record({
    target: fc.constantFrom('total', 'note'),
    path,
    transform: fc.constantFrom('string', 'number', 'json', 'uppercase'),
  }),
  fc.record({ target: fc.constant('note'), value: scalar }),
) as fc.Arbitrary<Mapping>
const mappings = fc.array(mapping, { maxLength: 3 })
const dataset = fc.constantFrom(...DATASETS)
const id = fc.uuid()
const name = fc.constantFrom('ERP', 'Größe', 'x')
const customer = fc.constantFrom(null, null, 'acme', 'globex')
const byId = <Row extends { readonly id: string }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
const many = <Row extends { readonly id: string }>(row: fc.Arbitrary<Row>): fc.Arbitrary<Row[]> =>
  fc.uniqueArray(row, { selector: (one) => one.id, maxLength: 20 }).map(byId)

const WEBHOOK = randomUUID()
const KEY = randomUUID()
const place = fc.constantFrom(null, { header: 'x-customer' })
const settings: fc.Arbitrary<RoutingRows> = fc.record({
  planId: fc.constant(randomUUID()),
  webhooks: fc
    .record({
      id: fc.constant(WEBHOOK),
      dataset,
      criteria: conditions,
      mappings,
      split: fc.constantFrom(null, null, { path: 'made' }),
      customer: place,
    })
    .map((row) => [row]),
  ingestKeys: place.map((one) => [{ id: KEY, customer: one }]),
  rules: many(fc.record({ id, name, dataset, conditions, mappings })),
  destinations: many(
    fc.record({
      id,
      name,
      conditions,
      enabled: fc.boolean(),
      datasets: fc.oneof(fc.constant(null), fc.uniqueArray(dataset)),
      order_path: fc.constantFrom(null, 'kind'),
      customer_id: customer,
      exposed: fc.oneof(fc.constant(null), fc.uniqueArray(dataset)),
    }),
  ),
  workflows: many(
    fc.record({ id, name, version: fc.constant(1), entry_dataset: dataset, entry_conditions: conditions }),
  ),
  triggers: many(fc.record({ id, name, dataset, agent_id: fc.uuid(), conditions })),
})

const value = fc.constantFrom(
  '"a"',
  '"order"',
  '1',
  '1.50',
  '-0',
  '1e400',
  'null',
  'true',
  '"1.50"',
  '[1.50,{"x":"a"}]',
  '{"__proto__":1,"a":9007199254740993}',
  `"${'long'.repeat(80)}"`,
)
const json = fc
  .tuple(value, value, fc.constantFrom('[]', '[{"x":1}]', '[{"kind":"a","x":"o"},{"kind":"order"}]', '"a"'))
  .map(([kind, total, made]) => `{"kind":${kind},"total": ${total},"made":${made}}`)
const body = fc.oneof(
  json.map((text) => ({ text, type: 'application/json' })),
  fc
    .constantFrom('kind=a&total=1.50', 'kind=order')
    .map((text) => ({ text, type: 'application/x-www-form-urlencoded' })),
)
const sent = fc.record({
  body,
  headers: fc.record(
    {
      'x-kind': fc.constantFrom('a', '1', CREDENTIAL),
      'x-customer': fc.constantFrom('acme', 'nobody'),
      authorization: fc.constant('Bearer x'),
    },
    { requiredKeys: [] },
  ),
  query: fc.constantFrom('', '?q=a', '?q=a&q=1', `?q=${CREDENTIAL}`),
  hops: fc.constantFrom(0, 0, 6),
  way: fc.constantFrom('webhook' as const, 'rules' as const, 'whole' as const),
})

type Sent = typeof sent extends fc.Arbitrary<infer Value> ? Value : never

async function routed({ body: { text, type }, headers: others, query, hops, way }: Sent) {
  const headers: Record<string, string> = { ...others, 'content-type': type }
  const read = await readStored({ body: text, headers })
  assert.ok(read.ok)
  const request = { target: `/in/${CREDENTIAL}${query}`, credential: CREDENTIAL, token: undefined }
  const stored: StoredBody = {
    body: text,
    headers: JSON.parse(storedHeaders(headers, request)) as Record<string, string>,
    sent: { query: storedQuery(request.target, CREDENTIAL), path: storedPath(request.target, CREDENTIAL) },
  }
  const event: Routable = {
    payload: read.payload,
    text: read.text,
    isBody: read.text === text,
    headers,
    sent: request,
    hops,
    use: way,
    webhookId: way === 'webhook' ? WEBHOOK : undefined,
    ingestKeyId: way === 'webhook' ? undefined : KEY,
    dataset: way === 'whole' ? 'orders' : undefined,
    scheme: way === 'webhook' ? 'none' : undefined,
    customer: null,
  }
  return { stored, event, source: { payload: read.payload, request: receivedView({ headers, ...request }) } }
}

const contentsOf = (parts: readonly PlanPart[]): readonly string[] => parts.map(({ content }) => content())

test('the matches, the settings and the stored event give every reason that a decision has', async () => {
  await fc.assert(
    fc.asyncProperty(settings, sent, async (rows, came) => {
      const { stored, event, source } = await routed(came)
      const decided = decide({ uuid: randomUUID, routing: compileRouting(rows), budget: UNLIMITED }, event)
      assert.ok(!('kind' in decided))
      const full = fullDecision(rows, { event, source, decided })

      const receivers = full.destinations.filter(({ matched }) => matched)
      assert.deepEqual(
        decided.deliveries.map(({ recordId, destinationId, pauseReason }) => [
          encodeId('record', recordId),
          encodeId('destination', destinationId),
          pauseReason ?? 'matched',
        ]),
        receivers.map(({ record_id, destination_id, reason }) => [record_id, destination_id, reason]),
      )
      const shares = compileShares([{ digest: 'a'.repeat(32), rows: rows.destinations }], new Map())
      const parts = partsOf(rows, shares)
      const text = await explainStored.run({
        stored: decided.decision,
        plan: {
          rules: contentsOf(parts.rules),
          destinations: contentsOf(parts.destinations),
          workflows: contentsOf(parts.workflows),
          triggers: contentsOf(parts.triggers),
        },
        body: stored,
        records: decided.records.map(({ id: recordId, dataset: of, data }) => ({
          id: encodeId('record', recordId),
          dataset: of,
          hops: event.hops,
          data: data ?? came.body.text,
        })),
      })
      assert.equal(text, stringifyJson(full))
    }),
    { numRuns: 500 },
  )
})
