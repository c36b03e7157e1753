import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Conditions } from '@postroad/contract'
import { UNLIMITED, WorkCounter } from '../work-budget.ts'
import { RouteComparer, type RoutedPayload, type RouteDifference, type Routing } from './compare-routes.ts'

const NOTHING: Routing = { endpoints: new Map(), rules: [], destinations: [], starters: [] }
const NO_DIFFERENCES = { added: [], removed: [], changed: [] }

function difference(before: Routing, after: Routing, of: Partial<RoutedPayload> = {}): RouteDifference | undefined {
  const comparer = new RouteComparer({ before, after, budget: UNLIMITED })
  const came = { chars: 12, sourceIp: '192.0.2.1', startsNothing: false, request: null }
  const payload = { payload: { total: 50 }, ...came, use: 'rules', ...of } as RoutedPayload
  return comparer.differenceOf(payload)
}

const rule = (name: string, dataset: string, conditions: Conditions = []) => ({
  name,
  dataset,
  conditions,
  mappings: [],
})
const endpoint = (members: object = {}) => ({
  slug: 'shop',
  dataset: 'orders',
  criteria: [],
  split: null,
  mappings: [],
  refuses: undefined,
  allowsIp: undefined,
  ...members,
})
const shop = (members: object) => ({ ...NOTHING, endpoints: new Map([['w', endpoint(members)]]) })
const search = (value: string): Conditions => [{ path: 'text', op: 'contains', value }]
const filing = (dataset: string) => ({
  ...NOTHING,
  rules: [rule('a', dataset)],
  endpoints: new Map([['w', endpoint({ dataset })]]),
})
const searches = (prefix: string) =>
  Array.from({ length: 50 }, (_, at) => rule(`${prefix}${at}`, 'orders', search(`${prefix}${at}`)))
const destination = (members: object = {}) => ({
  name: 'erp',
  enabled: true,
  datasets: null,
  conditions: [],
  ...members,
})

test('the same routing makes no difference, and neither does a rule with another name', () => {
  const before = { ...NOTHING, rules: [rule('a', 'orders')], destinations: [destination()] }
  assert.equal(difference(before, before), undefined)
  assert.equal(difference(before, { ...before, rules: [rule('b', 'orders')] }), undefined)
})

test('another dataset removes the record from one dataset and adds it to the other, with its deliveries', () => {
  const before = { ...NOTHING, rules: [rule('a', 'orders')], destinations: [destination({ datasets: ['orders'] })] }
  assert.deepEqual(difference(before, { ...before, rules: [rule('a', 'large')] }), {
    refused_before: null,
    refused_after: null,
    records: { added: [{ dataset: 'large', by: 'a' }], removed: [{ dataset: 'orders', by: 'a' }], changed: [] },
    deliveries: { ...NO_DIFFERENCES, removed: [{ destination: 'erp', dataset: 'orders', paused: false }] },
    starts: NO_DIFFERENCES,
  })
})

test('another mapping changes the record and its delivery; another state of the destination changes only the delivery', () => {
  const before = { ...NOTHING, rules: [rule('a', 'orders')], destinations: [destination()] }
  const mapped = { ...before, rules: [{ ...rule('a', 'orders'), mappings: [{ target: 'sum', path: 'total' }] }] }
  assert.deepEqual(difference(before, mapped), {
    refused_before: null,
    refused_after: null,
    records: { ...NO_DIFFERENCES, changed: [{ dataset: 'orders', by: 'a' }] },
    deliveries: { ...NO_DIFFERENCES, changed: [{ destination: 'erp', dataset: 'orders', paused: false }] },
    starts: NO_DIFFERENCES,
  })
  assert.deepEqual(difference(before, { ...before, destinations: [destination({ enabled: false })] }), {
    refused_before: null,
    refused_after: null,
    records: NO_DIFFERENCES,
    deliveries: { ...NO_DIFFERENCES, changed: [{ destination: 'erp', dataset: 'orders', paused: true }] },
    starts: NO_DIFFERENCES,
  })
})

test('a destination sees the record as it is mapped, not the payload', () => {
  const rules = [{ ...rule('a', 'orders'), mappings: [{ target: 'sum', path: 'total' }] }]
  const of = (path: string) => ({
    ...NOTHING,
    rules,
    destinations: [destination({ conditions: [{ path, op: 'gt', value: 40 }] })],
  })
  const found = difference(of('total'), of('sum'))
  assert.deepEqual(found?.deliveries.added, [{ destination: 'erp', dataset: 'orders', paused: false }])
})

const started = (kind: string) => [{ kind, name: 'Follow up', dataset: 'orders' }]

test('a workflow and an AI trigger start on the records of their dataset that match, as they are mapped', () => {
  const rules = [{ ...rule('a', 'orders'), mappings: [{ target: 'sum', path: 'total' }] }, rule('b', 'others')]
  const of = (kind: 'workflow' | 'trigger', path: string) => ({
    ...NOTHING,
    rules,
    starters: [{ kind, name: 'Follow up', dataset: 'orders', conditions: [{ path, equals: 50 }] }],
  })
  assert.equal(difference(of('workflow', 'total'), { ...NOTHING, rules }), undefined)
  const found = difference(of('workflow', 'sum'), of('trigger', 'sum'))
  assert.deepEqual(found, {
    refused_before: null,
    refused_after: null,
    records: NO_DIFFERENCES,
    deliveries: NO_DIFFERENCES,
    starts: { added: started('trigger'), removed: started('workflow'), changed: [] },
  })
  const unmapped = {
    ...of('workflow', 'sum'),
    rules: [{ ...rules[0], mappings: [{ target: 'sum', value: 50 }] }],
  } as Routing
  const mapped = difference(of('workflow', 'sum'), {
    ...unmapped,
    rules: [...unmapped.rules, rule('b', 'others')],
  })
  assert.equal(mapped, undefined, 'the same data')
  const more = [
    { target: 'sum', path: 'total' },
    { target: 'of', value: 1 },
  ]
  const changed = difference(of('workflow', 'sum'), {
    ...of('workflow', 'sum'),
    rules: [{ ...rule('a', 'orders'), mappings: more }],
  })
  assert.deepEqual(changed?.starts, { ...NO_DIFFERENCES, changed: started('workflow') })
})

test('a workflow compares strictly where a rule compares as text, even with the same conditions', () => {
  const conditions: Conditions = [{ path: 'total', equals: '50' }]
  const before = { ...NOTHING, rules: [rule('a', 'orders', conditions)] }
  const starters = [{ kind: 'workflow' as const, name: 'Follow up', dataset: 'orders', conditions }]
  assert.equal(difference(before, { ...before, starters }), undefined)
  const text = difference(before, { ...before, starters }, { payload: { total: '50' } })
  assert.equal(text?.starts.added.length, 1)
})

test('a payload that came through too many workflows and agents starts nothing', () => {
  const before = { ...NOTHING, rules: [rule('a', 'orders')] }
  const starters = [{ kind: 'trigger' as const, name: 'Sort', dataset: 'orders', conditions: [] }]
  assert.equal(difference(before, { ...before, starters }, { startsNothing: true }), undefined)
  assert.notEqual(difference(before, { ...before, starters }), undefined)
})

test('an endpoint refuses a payload when it is gone, turned off, without a secret, or closed to the address', () => {
  const at = { use: 'endpoint', webhookId: 'w', datasetOfUrl: undefined } as const
  for (const [after, reason] of [
    [NOTHING, 'endpoint_not_found'],
    [shop({ refuses: 'endpoint_disabled' }), 'endpoint_disabled'],
    [shop({ refuses: 'bad_signature' }), 'bad_signature'],
    [shop({ allowsIp: (ip: string | undefined) => ip === '198.51.100.1' }), 'ip_not_allowed'],
  ] as const) {
    const found = difference(shop({}), after, at)
    assert.deepEqual([found?.refused_before, found?.refused_after], [null, reason])
    assert.deepEqual(found?.records.removed, [{ dataset: 'orders', by: 'shop' }])
  }
})

test('a dataset in the URL takes precedence over that of the endpoint, and no rule is evaluated', () => {
  const at = { use: 'endpoint', webhookId: 'w', datasetOfUrl: 'named' } as const
  assert.equal(difference(filing('one'), filing('two'), at), undefined)
  const direct = { use: 'dataset', dataset: 'direct' } as const
  assert.equal(difference(filing('one'), filing('two'), direct), undefined)
  assert.notEqual(difference(filing('one'), filing('two'), { ...at, datasetOfUrl: undefined }), undefined)
})

test('an event is refused when its records would be too large together', () => {
  const mappings = Array.from({ length: 9 }, (_, at) => ({ target: `m${at}`, path: 'text' }))
  const after = { ...NOTHING, rules: [{ ...rule('a', 'orders'), mappings }] }
  const text = 'x'.repeat(1_048_576)
  const found = difference({ ...NOTHING, rules: [rule('a', 'orders')] }, after, {
    payload: { text },
    chars: text.length,
  })
  assert.equal(found?.refused_after, 'records_too_large')
  assert.equal(
    difference(after, { ...after, destinations: [destination()] }, { payload: { text }, chars: text.length }),
    undefined,
  )
})

test('many rules that search a long payload use up a budget', () => {
  const text = 'a'.repeat(1_048_576)
  const budget = new WorkCounter(4_194_304)
  const comparer = new RouteComparer({
    before: { ...NOTHING, rules: searches('b') },
    after: { ...NOTHING, rules: searches('c') },
    budget,
  })
  const came = { chars: text.length, sourceIp: undefined, startsNothing: false, request: null }
  comparer.differenceOf({ payload: { text }, ...came, use: 'rules' })
  assert.equal(budget.usedUp, true)
})
