import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { WorkBudget, WorkUsedUp } from '../../domain/work-budget.ts'
import { decide, type Routable } from './decide.ts'
import { compileRouting, type Routing } from './routing.ts'

/** Rules that each search an event for a text at its very end. */
function searching(rules: number): Routing {
  return compileRouting({
    planId: randomUUID(),
    webhooks: [],
    ingestKeys: [],
    destinations: [],
    workflows: [],
    triggers: [],
    rules: Array.from({ length: rules }, (_, at) => ({
      id: randomUUID(),
      name: `r${at}`,
      dataset: 'orders',
      conditions: [{ path: 'text', op: 'contains', value: 'ab' }],
      mappings: [{ target: 'x', value: 1 }],
    })),
  })
}

function eventOf(chars: number): Routable {
  const payload = { text: `${'a'.repeat(chars)}b` }
  return {
    payload,
    text: JSON.stringify(payload),
    isBody: true,
    headers: {},
    sent: null,
    hops: 0,
    use: 'rules',
    webhookId: undefined,
    ingestKeyId: undefined,
    dataset: undefined,
    scheme: undefined,
    customer: null,
  }
}

const decideWithin = (work: number, { rules, chars }: { readonly rules: number; readonly chars: number }) =>
  decide({ uuid: randomUUID, routing: searching(rules), budget: new WorkBudget(work) }, eventOf(chars))

test('an event is routed within the budget of its work, and rules that search a long payload need more than others', () => {
  const decided = decideWithin(1_000_000, { rules: 50, chars: 1_000 })
  assert.ok(!('kind' in decided))
  assert.equal(decided.records.length, 50)
  assert.throws(() => decideWithin(1_000_000, { rules: 50, chars: 60_000 }), WorkUsedUp)
})
