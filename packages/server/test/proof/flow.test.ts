import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aSink, aWorld, eventually, type Sink, type World } from '../stage/harness.ts'

let world: World
let sink: Sink

before(async () => {
  world = await aWorld()
  sink = await aSink()
})
after(async () => {
  await world.stop()
  await sink.stop()
})

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
  const delivered = await eventually(async () => {
    const { body } = await world.admin('GET', `deliveries?record_id=${record.id}&state=delivered`)
    return body.deliveries[0]
  })
  assert.equal(delivered.attempt_count, 1)
})
