import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playOrders } from '../stage/store-model.ts'
import type { StoreRows } from '../stage/store-rows.ts'
import { onStoreStage } from '../stage/store-stage.ts'

let rows: StoreRows

onStoreStage((made) => {
  ;({ rows } = made)
})

test('the store on PostgreSQL answers and writes like the model, in a few orders of operations', async () => {
  const seen = await playOrders(rows, 4)
  assert.ok(seen.has('begun'))
})
