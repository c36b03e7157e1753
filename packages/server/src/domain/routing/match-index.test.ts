import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '@postroad/contract'
import * as fc from 'fast-check'
import { MASK } from '@postroad/contract/sent-again'
import type { RequestView } from './event-path.ts'
import { parseJson } from '../json/json-text.ts'
import { UNLIMITED, WorkCounter } from '../work-budget.ts'
import { compileConditions, type CompareMode } from './condition.ts'
import { MatchIndex, type Matchable } from './match-index.ts'

/** `a` more often, so that conditions and payloads meet there. */
const PATHS = [
  'a',
  'a',
  'a',
  'a',
  'b',
  'a.c',
  'l.0',
  'length',
  'l.length',
  'rawJSON',
  'd\\.e',
  '$request.headers.x',
  '$request.query.q',
  '$request.path',
]
const DATASETS = ['orders', 'users', 'other']
/** Few values, in many forms of each, so that items and payloads meet often. */
const SCALARS = ['x', '1', '1.5', '1.50', '', 'null', 'true', 1, 1.5, 0, -1, null, true, false] as const
const NUMBERS = ['1.0', '1.50', '-0', '1e2', '9007199254740993', '9007199254740992', '0.1000']

const scalar = fc.constantFrom(...SCALARS, MASK)
const path = fc.constantFrom(...PATHS)
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path, equals: scalar }),
  fc.record({ path, op: fc.constant('not_equals' as const), value: scalar }),
  fc.record({
    path,
    op: fc.constant('in' as const),
    value: fc.oneof(
      fc.array(scalar, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(
        ['1.5', '1.50'],
        Array.from({ length: 70 }, (_, at) => String(at)),
      ),
    ),
  }),
  fc.record({ path, op: fc.constantFrom('contains' as const, 'regex' as const), value: fc.constantFrom('x', '1') }),
  fc.record({ path, op: fc.constant('exists' as const) }),
  fc.record({ path, op: fc.constantFrom('gt' as const, 'lte' as const), value: fc.constantFrom(0, 1.5, '1') }),
)

const datasets = fc.oneof(
  fc.constant(null),
  fc.uniqueArray(fc.constantFrom(...DATASETS)).map((names) => new Set(names)),
  fc.constant(new Set([...DATASETS, ...Array.from({ length: 20 }, (_, at) => `many${at}`)])),
)

const itemsOf = (mode: CompareMode): fc.Arbitrary<readonly Matchable[]> =>
  fc.array(
    fc.record({ id: fc.uuid(), datasets, conditions: fc.array(condition, { maxLength: 3 }) }).map((item) => ({
      ...item,
      conditions: compileConditions(item.conditions, mode),
    })),
    { maxLength: 60 },
  )

const member = fc.oneof(
  scalar.map((value) => JSON.stringify(value)),
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...NUMBERS),
  fc.constantFrom('[]', '["x"]', '{"c":1}', '{"c":"x","length":3}', '[1.50,"x"]'),
)
const payload = fc
  .dictionary(fc.constantFrom('a', 'b', 'l', 'length', 'rawJSON', 'd.e', 'z'), member, { noNullPrototype: true })
  .map((members) => {
    const text = `{${Object.entries(members)
      .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
      .join(',')}}`
    const parsed = parseJson(text)
    assert.ok(parsed.ok)
    return parsed.value
  })

const requests: fc.Arbitrary<RequestView | null> = fc.oneof(
  fc.constant(null),
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom(null, 'x'),
    // A masked value matches no condition.
    headers: fc.constantFrom({}, { x: '1' }, { x: MASK }),
    query: fc.constantFrom({}, { q: 'x' }, { q: ['x', '1'] }),
  }),
)

const idsOf = (items: readonly Matchable[]): readonly string[] => items.map(({ id }) => id)

for (const mode of ['text', 'strict'] as const) {
  test(`an index finds exactly what testing every item one by one finds (${mode})`, () => {
    fc.assert(
      fc.property(
        itemsOf(mode),
        fc.record({ payload, request: requests }),
        fc.constantFrom(undefined, ...DATASETS),
        (made, source, dataset) => {
          // Rules have no datasets, and nobody asks them about one.
          const items = dataset === undefined ? made.map((item) => ({ ...item, datasets: null })) : made
          const oneByOne = items.filter(
            (item) =>
              (dataset === undefined || item.datasets === null || item.datasets?.has(dataset) === true) &&
              item.conditions.firstFailure(source) === undefined,
          )
          const found = new MatchIndex(items).matching({
            dataset,
            source,
            budget: UNLIMITED,
          })
          assert.deepEqual(idsOf(found), idsOf(oneByOne).toSorted())
        },
      ),
      { numRuns: 3_000 },
    )
  })
}

const shopItem = (at: number): Matchable => ({
  id: String(at).padStart(6, '0'),
  datasets: at % 2 === 0 ? null : new Set([`other${at}`]),
  conditions: compileConditions(
    [
      { path: 'type', equals: 'order' },
      { path: 'shop', equals: `shop${at}` },
    ],
    'text',
  ),
})

test('ten thousand items of other datasets and values cost no more work than none', () => {
  const index = new MatchIndex(Array.from({ length: 10_000 }, (_, at) => shopItem(at)))
  const budget = new WorkCounter(1_000)
  const found = index.matching({
    dataset: 'orders',
    source: { payload: { type: 'order', shop: 'shop42' }, request: null },
    budget,
  })
  assert.deepEqual(idsOf(found), ['000042'])
  assert.equal(budget.usedUp, false)
})
