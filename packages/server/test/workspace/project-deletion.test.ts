import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aReceiver, onDeliveryStage } from '../stage/delivery-routes.ts'
import { post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'

let world: World
let database: Database

onDeliveryStage((stage) => {
  ;({ world, database } = stage)
})

async function made(path: string, body: object) {
  const answer = await world.admin('POST', path, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

test('the deletion of a project breaks the requests of its destinations that are under way', async (t) => {
  const closed = Promise.withResolvers<void>()
  const hanging = await aReceiver(t, (request) => request.socket.once('close', () => closed.resolve()))
  const { project } = await made('projects', { name: 'Doomed' })
  const { webhook } = await made(`projects/${project.id}/webhooks`, { name: 'in' })
  await made(`projects/${project.id}/destinations`, { name: 'out', url: hanging.url, timeout_ms: 60_000 })
  assert.equal((await post(webhook.public_url, '{"n":1}')).status, 201)
  await hanging.until(1)
  assert.equal((await world.admin('DELETE', `projects/${project.id}`)).status, 200)
  await closed.promise
  await world.idle()
  const attempts = await database.many<{ error_code: string }>(sql`select error_code from delivery_attempts`)
  assert.deepEqual(
    attempts.map(({ error_code }) => error_code),
    ['connection_reset'],
    'and does not wait for their timeout',
  )
})
