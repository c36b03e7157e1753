import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { compileConditions } from '../../domain/routing/condition.ts'
import { compileMappings } from '../../domain/routing/mapping.ts'
import type { Verified } from '../types.ts'
import { decide } from './decide.ts'

/** An event with a long text. Each rule searches it for a text at its very end. */
function eventOf({ rules, chars }: { readonly rules: number; readonly chars: number }): Verified {
  const payload = { text: `${'a'.repeat(chars)}b` }
  const text = JSON.stringify(payload)
  const conditions = compileConditions([{ path: 'text', op: 'contains', value: 'ab' }], 'text')
  const rule = { conditions, mappings: compileMappings([{ target: 'x', value: 1 }]), dataset: 'orders', name: 'r' }
  const plan = {
    rules: Array.from({ length: rules }, (_, at) => ({ ...rule, publicId: `rul_${at}` })),
    destinations: [],
    workflows: [],
    triggers: [],
  }
  const verified = { payload, text, body: Buffer.from(text), receiver: { use: 'rules', plan }, captured: {} }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that routing reads
  return verified as unknown as Verified
}

/** Counts the turns of the event loop that other work gets while an event is routed. */
async function turnsWhile(verified: Verified): Promise<number> {
  let turns = 0
  let over = false
  const count = (): void => {
    turns += 1
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const routed = await decide({ uuid: randomUUID }, verified)
  over = true
  assert.ok(!('kind' in routed))
  assert.equal(routed.records.length, verified.receiver.plan.rules.length)
  return turns
}

test('an event whose rules search a long payload yields to other requests, and an event with a short payload does not yield', async () => {
  assert.ok((await turnsWhile(eventOf({ rules: 50, chars: 1_048_576 }))) >= 50)
  assert.equal(await turnsWhile(eventOf({ rules: 50, chars: 1_000 })), 0)
})
