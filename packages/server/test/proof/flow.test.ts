import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)

test('an event posted to an endpoint becomes a record and arrives, signed, at a destination', async () => {
  const made = await world.admin('POST', 'destinations', { name: 'sink', url: sink.url })
  assert.equal(made.status, 201)
  const text = '{ "n": 12345678901234567890, "e": 1e400, "a":1, "a":2 }'
  const answer = await fetch(world.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  })
  assert.equal(answer.status, 201)
  const accepted = (await answer.json()) as { records: { id: string }[] }
  const [received] = await sink.until(1)
  assert.ok(received)
  const [record] = accepted.records
  assert.ok(record)
  assert.equal(
    received.body,
    `{"id":"${record.id}","dataset":"events","received_at":"2026-01-15T12:00:00.000Z","data":${text}}`,
  )
  await world.idle()
  const [delivered] = (await world.admin('GET', `deliveries?record_id=${record.id}&state=delivered`)).body.deliveries
  assert.equal(delivered.attempt_count, 1)
})
