import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { compileConditions } from '../../src/domain/routing/condition.ts'
import { compileMappings } from '../../src/domain/routing/mapping.ts'
import { decide } from '../../src/pipeline/route/decide.ts'
import type { Verified } from '../../src/pipeline/types.ts'
import { bytesOf, rowsOf } from '../../src/pipeline/store/event-rows.ts'

/** The size of an event of two bytes that one rule files with these mappings. */
async function sizeOf(mappings: Parameters<typeof compileMappings>[0]): Promise<number> {
  const rule = { conditions: compileConditions([], 'text'), mappings: compileMappings(mappings), dataset: 'orders' }
  const plan = {
    rules: [{ ...rule, name: 'rule', publicId: 'rul_1' }],
    destinations: [],
    workflows: [],
    triggers: [],
    datasets: new Set<string>(),
  }
  const body = Buffer.from('{}')
  const captured = { headers: {}, address: { kind: 'key_rules', key: 'key' }, receivedAt: 0 }
  const verified = { payload: {}, text: '{}', body, receiver: { use: 'rules', plan }, captured, hops: 0, chain: null }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that routing and rows read
  const event = await decide({ uuid: randomUUID }, verified as unknown as Verified)
  assert.ok(!('kind' in event))
  return bytesOf(rowsOf({ uuid: randomUUID }, event))
}

test('a batch of the group commit counts the records of its events, not only their bodies', async () => {
  const value = 'x'.repeat(1_000_000)
  assert.ok((await sizeOf([{ target: 'big', value }])) > value.length)
  assert.ok((await sizeOf([])) < 2_000)
})
