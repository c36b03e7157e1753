import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { decodeId, LIMITS } from '@postroad/contract'
import { admitQuarantined } from '../../src/pipeline/quarantine/admit.ts'
import { sql } from '../../src/platform/db.ts'
import { aName, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const HOUR_MS = 3_600_000
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
    // No loop runs here: each test decides when requests are verified again.
  },
  { env: { ROLES: 'web' }, loops: [] },
)

type Endpoint = { readonly id: string; readonly url: string; readonly dataset: string }

/** An endpoint with a wrong secret, and a quarantine of 24 hours. */
async function anEndpoint(members: object = {}): Promise<Endpoint> {
  const dataset = aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
  const { id, public_url: url } = await aWebhook(world, {
    dataset,
    verification: { scheme: 'code_host', secret: 'wrong' },
    ...members,
  })
  assert.equal((await world.admin('PUT', `webhooks/${id}/quarantine`, { hours: 24 })).status, 200)
  return { id, url, dataset }
}

const signed = (body: string, secret = 'right'): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})
const send = (url: string, body: string, headers: Record<string, string> = signed(body)): Promise<Answer> =>
  post(url, body, { headers })
const quarantineOf = async (id: string): Promise<Answer['body']> =>
  (await world.admin('GET', `webhooks/${id}/quarantine`)).body.quarantine
const correct = (id: string): Promise<Answer> => {
  world.clock.advance(1_000)
  return world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'code_host', secret: 'right' } })
}
const admit = (): Promise<unknown> => admitQuarantined({ ...world.app.deps, acceptAll: world.app.acceptAll })
const recordsOf = async (dataset: string): Promise<readonly Answer['body'][]> =>
  (await world.admin('GET', `records?dataset=${dataset}`)).body.records

test('without a quarantine a request with a wrong signature is stored nowhere', async () => {
  const { id, public_url: url } = await aWebhook(world, { verification: { scheme: 'code_host', secret: 'wrong' } })
  assert.equal((await send(url, '{"n":1}')).status, 401)
  const { hours, count } = await quarantineOf(id)
  assert.deepEqual([hours, count], [0, 0])
})

test('after the secret is corrected, the requests are admitted from their bytes, in their order and with their original times', async () => {
  const { id, url, dataset } = await anEndpoint()
  const bodies = ['{"n":1.50}', '{"n":12345678901234567890}', 'n=3']
  const times: string[] = []
  for (const body of bodies) {
    world.clock.advance(1_000)
    times.push(new Date(world.clock.now()).toISOString())
    // oxlint-disable-next-line no-await-in-loop -- in this order
    const { status, body: answer } = await post(`${url}?of=${times.length}`, body, {
      headers: signed(body),
      type: body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
    })
    assert.deepEqual([status, answer.reason], [401, 'bad_signature'])
  }
  const held = await quarantineOf(id)
  assert.deepEqual([held.count, held.requests.length, held.requests[0].reason], [3, 3, 'bad_signature'])
  assert.deepEqual(await recordsOf(dataset), [])
  world.clock.advance(2 * HOUR_MS)
  await correct(id)
  await admit()
  const records = (await recordsOf(dataset)).toReversed()
  assert.deepEqual(
    records.map(({ received_at }) => received_at),
    times,
  )
  const first = (await world.admin('GET', `records/${records[0].id}`)).body.record
  assert.equal(first.data_text, '{"n":1.50}')
  const { submission } = (await world.admin('GET', `submissions/${first.submission_id}`)).body
  assert.equal(submission.query, 'of=1')
  assert.deepEqual(records[2].data, { n: '3' })
  const emptied = await quarantineOf(id)
  assert.deepEqual([emptied.count, emptied.checked_at], [0, new Date(world.clock.now()).toISOString()])
  await admit()
  assert.equal((await recordsOf(dataset)).length, 3)
})

const timed = (time: number): Record<string, string> => ({
  'stripe-signature': `t=${time},v1=${createHmac('sha256', 'right').update(`${time}.{}`).digest('hex')}`,
})

test('the age of a signature with a time is its age when the request arrived', async () => {
  const { id, public_url: url } = await aWebhook(world, {
    dataset: 'timed',
    verification: { scheme: 'payments_provider', secret: 'wrong' },
  })
  await world.admin('PUT', `webhooks/${id}/quarantine`, { hours: 24 })
  const at = Math.floor(world.clock.wall() / 1_000)
  assert.equal((await send(url, '{}', timed(at))).status, 401)
  assert.equal((await send(url, '{}', timed(at - 4_000))).status, 401)
  world.clock.advance(HOUR_MS)
  await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'payments_provider', secret: 'right' } })
  await admit()
  assert.equal((await recordsOf('timed')).length, 1)
  assert.equal((await quarantineOf(id)).count, 1, 'the one that was stale when it came stays')
})

test('a forgery is never admitted, and is deleted after its hours', async () => {
  const { id, url, dataset } = await anEndpoint()
  await send(url, '{"forged":true}', signed('{"other":true}'))
  await correct(id)
  await admit()
  assert.equal((await quarantineOf(id)).count, 1)
  assert.deepEqual(await recordsOf(dataset), [])
  world.clock.advance(24 * HOUR_MS)
  await admit()
  assert.equal((await quarantineOf(id)).count, 0)
})

test('a request that was repeated in the meantime is one event, if the endpoint recognizes repeats', async () => {
  const { id, url, dataset } = await anEndpoint({ idempotency: { header: 'X-Delivery' } })
  const body = '{"n":1}'
  const headers = { ...signed(body), 'x-delivery': 'd-1' }
  await send(url, body, headers)
  await correct(id)
  assert.equal((await send(url, body, headers)).status, 201)
  await admit()
  assert.equal((await recordsOf(dataset)).length, 1)
  assert.equal((await quarantineOf(id)).count, 0)
})

test('a request in quarantine is not counted as an event, and is in no column of the database in plain text', async () => {
  const { url } = await anEndpoint()
  const usage = async (): Promise<unknown> =>
    (await world.app.deps.database.many(sql`select * from monthly_usage order by 1, 2`)).length
  const counted = await usage()
  await send(url, '{"canary":"canary-in-quarantine"}', { ...signed('x'), 'x-canary': 'canary-header' })
  assert.deepEqual(await usage(), counted)
  const rows = await world.app.deps.database.many<{ text: string }>(
    sql`select q::text || encode(q.request, 'escape') as text from quarantined_requests q`,
  )
  assert.ok(rows.length > 0 && !JSON.stringify(rows).includes('canary'))
})

test('the quarantine limits a flood of forgeries by the second, and by the number of stored requests', async () => {
  const { id, url } = await anEndpoint()
  for (let n = 0; n < LIMITS.quarantinePerSecondMax + 5; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- within one second of the clock
    assert.equal((await send(url, '{}', signed('x'))).status, 401)
  }
  assert.equal((await quarantineOf(id)).count, LIMITS.quarantinePerSecondMax)
  await world.app.deps.database.run(sql`
    insert into quarantined_requests (workspace_id, project_id, id, webhook_id, reason, received_at, expires_at, bytes, request)
    select workspace_id, project_id, gen_random_uuid(), webhook_id, reason, received_at, expires_at, 1, request
      from quarantined_requests, generate_series(1, ${LIMITS.quarantineRequestsMax})
     where webhook_id = ${decodeId('webhook', id) ?? ''}
     limit ${LIMITS.quarantineRequestsMax}
  `)
  const { count } = await quarantineOf(id)
  world.clock.advance(1_000)
  await send(url, '{}', signed('x'))
  assert.equal((await quarantineOf(id)).count, count)
  assert.equal((await world.admin('DELETE', `webhooks/${id}/quarantine`)).status, 200)
  assert.equal((await quarantineOf(id)).count, 0)
})

test('0 hours delete the requests immediately, and POST verify starts without a change', async () => {
  const { id, url, dataset } = await anEndpoint({ enabled: true })
  await send(url, '{"n":1}')
  await world.app.deps.database.run(sql`update webhooks set quarantine_checked_at = now() + interval '1 day'`)
  const { body } = await world.admin('POST', `webhooks/${id}/quarantine/verify`)
  assert.equal(body.quarantine.checked_at, null)
  await correct(id)
  await admit()
  assert.equal((await recordsOf(dataset)).length, 1)
  await send(url, '{"n":2}', signed('x'))
  await world.admin('PUT', `webhooks/${id}/quarantine`, { hours: 0 })
  const { hours, count } = await quarantineOf(id)
  assert.deepEqual([hours, count], [0, 0])
  for (const wrong of [-1, 73, 1.5, 'long']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await world.admin('PUT', `webhooks/${id}/quarantine`, { hours: wrong })
    assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'])
  }
})

test('if a request leaves the quarantine while it is admitted, nothing is stored twice', async () => {
  const { id, url, dataset } = await anEndpoint()
  await send(url, '{"n":1}')
  await correct(id)
  const both = await Promise.allSettled([admit(), admit()])
  assert.ok(both.some(({ status }) => status === 'fulfilled'))
  await admit()
  assert.equal((await recordsOf(dataset)).length, 1)
})
