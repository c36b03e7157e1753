import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Mappings } from '@postroad/contract'
import { WorkBudget } from '../../src/domain/work-budget.ts'
import { decide } from '../../src/pipeline/route/decide.ts'
import { compileRouting } from '../../src/pipeline/route/routing.ts'
import type { Routed } from '../../src/pipeline/types.ts'
import { bytesOf, rowsOf } from '../../src/pipeline/store/event-rows.ts'

/** The size of an event of two bytes that one rule files with these mappings. */
function sizeOf(mappings: Mappings): number {
  const rule = { id: randomUUID(), name: 'rule', dataset: 'orders', conditions: [], mappings }
  const rows = {
    planId: randomUUID(),
    webhooks: [],
    ingestKeys: [],
    rules: [rule],
    destinations: [],
    workflows: [],
    triggers: [],
  }
  const event = { payload: {}, text: '{}', isBody: true, headers: {}, sent: null, hops: 0, use: 'rules' as const }
  const nobody = { webhookId: undefined, ingestKeyId: undefined, dataset: undefined, scheme: undefined, customer: null }
  const decided = decide(
    { uuid: randomUUID, routing: compileRouting(rows), budget: new WorkBudget(1_000_000_000) },
    { ...event, ...nobody },
  )
  assert.ok(!('kind' in decided))
  const captured = { headers: {}, target: '/', address: { kind: 'key_rules', key: 'key' }, receivedAt: 0 }
  const receiver = { use: 'rules', plan: { datasets: new Set<string>() } }
  const verified = { payload: {}, text: '{}', body: Buffer.from('{}'), receiver, captured, hops: 0, chain: null }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that rows read
  return bytesOf(rowsOf({ uuid: randomUUID }, { ...decided, verified, dataset: null } as unknown as Routed))
}

test('a batch of the group commit counts the records of its events, not only their bodies', () => {
  const value = 'x'.repeat(1_000_000)
  assert.ok(sizeOf([{ target: 'big', value }]) > value.length)
  assert.ok(sizeOf([]) < 2_000)
})
