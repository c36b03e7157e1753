import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ALL, ask, enterPlacesAt, home, leavePlaces, world } from '../stage/admin-asking.ts'
import { anIngestKey, post } from '../stage/fixtures.ts'
import { example } from '../stage/route-examples.ts'

/** The clock of a real server has fractions of a millisecond, which no integer of the API or of the database takes. */
before(async () => {
  await enterPlacesAt(Date.parse('2026-01-15T12:00:00Z') + 0.437)
  // Two reads of a real clock differ by a fraction too.
  const { clock } = world
  const read = clock.now.bind(clock)
  let reads = 0
  clock.now = () => read() + (reads += 1) * 0.0131
})
after(leavePlaces)

test('every route answers while the clock has a fraction', async () => {
  const failed: string[] = []
  for (const named of ALL) {
    // oxlint-disable-next-line no-await-in-loop -- an example may change what the next one reads
    const answer = await ask(named, home, { asked: await example(named, home) })
    if (answer.status !== named.route.status) failed.push(`${named.name}: ${answer.status} ${answer.text}`)
  }
  assert.deepEqual(failed, [])
})

test('events, the Data API and portals answer while the clock has a fraction', async () => {
  const { key } = await anIngestKey(world)
  const accepted = await post(`${world.baseUrl}/v1/ingest/${key}/fractions`, '{"n":1}')
  assert.equal(accepted.status, 201)
  const made = await world.admin('POST', 'data-keys', { name: 'fractions' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const read = await fetch(`${world.baseUrl}/v1/data/fractions`, {
    headers: { authorization: `Bearer ${made.body.key}` },
  })
  assert.equal(read.status, 200)
})
