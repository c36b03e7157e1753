import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DELIVERY_STATES } from '../../src/domain/delivery/delivery-state.ts'
import { playOrders } from '../stage/store-model.ts'
import type { StoreRows } from '../stage/store-rows.ts'
import { onStoreStage } from '../stage/store-stage.ts'
import { KINDS } from '../stage/store-step.ts'

let rows: StoreRows

onStoreStage((made) => {
  ;({ rows } = made)
})

test('the store on PostgreSQL answers and writes like the model, whatever the order of operations', async () => {
  const seen = await playOrders(rows, 20)
  const settled = ['delivered', 'retrying', 'failed', 'paused'].map((next) => `settled ${next}`)
  const wanted = [
    ...KINDS,
    ...DELIVERY_STATES.map((state) => `state ${state}`),
    ...settled,
    'begun',
    'begun on arrival',
    'not begun on arrival',
    'lost',
    'paused',
    'orphaned',
  ]
  assert.deepEqual(
    wanted.filter((what) => !seen.has(what)),
    [],
    'every kind of operation and every state occurred',
  )
})
