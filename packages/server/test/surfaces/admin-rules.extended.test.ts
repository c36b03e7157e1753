import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import {
  aKey,
  assertRefused,
  call,
  created,
  database,
  enterPlacesWith,
  home,
  itemsOf,
  leavePlaces,
  world,
} from '../stage/admin-asking.ts'
import { aDeliveredIn, aProjectIn } from '../stage/example-resources.ts'

/** Rules of the admin API that one route proves for all; routes.walk.test.ts has those that every route proves. */
before(() => enterPlacesWith({ ROLES: 'web' }))
after(leavePlaces)

test('a key is capped at the current permissions of its creator, and ends with its creator', async () => {
  const key = await aKey(home, { role: 'admin', of: 'developer' })
  assert.equal((await call({ key }, 'POST projects', { body: { name: 'x' } })).body.reason, 'insufficient_role')
  assert.equal((await call({ key }, 'GET me')).body.role, 'developer')
  await database.run(sql`update members set role = 'viewer' where role = 'developer'`)
  assert.equal((await call({ key }, 'POST datasets', { body: { name: 'x' } })).body.reason, 'insufficient_role')
  await database.run(sql`delete from members where role = 'viewer'`)
  assertRefused(await call({ key }, 'GET me'), 401, 'unauthorized')
})

test('a key that has expired or was revoked gets 401 with the cause', async () => {
  const key = await aKey(home, { role: 'admin', expiresAt: new Date(world.clock.now() + 60_000) })
  assert.equal((await call({ key }, 'GET me')).status, 200)
  world.clock.advance(60_000)
  assertRefused(await call({ key }, 'GET me'), 401, 'api_key_expired')
  const other = await aKey(home, { role: 'admin' })
  await database.run(sql`update api_keys set revoked_at = now() where shown_prefix = ${other.slice(0, 11)}`)
  assertRefused(await call({ key: other }, 'GET me'), 401, 'api_key_revoked')
})

test('a key for one project reports its project at /me, and creates resources there', async () => {
  const { params } = await aProjectIn(home)
  const project = params?.['id'] ?? ''
  const key = await aKey(home, { role: 'admin', projectId: decodeId('project', project) ?? '' })
  const me = await call({ key }, 'GET me')
  assert.equal(me.body.api_key.project_id, project)
  assert.equal((await call({ key }, `POST projects/${project}/datasets`, { body: { name: 'mine' } })).status, 201)
})

test('a body larger than 1 MiB answers 413', async () => {
  assertRefused(
    await call(home, 'POST datasets', { raw: `{"name":"${'x'.repeat(1_048_577)}"}` }),
    413,
    'payload_too_large',
  )
})

test('an unknown address gets 404', async () => {
  for (const path of ['nothing', 'projects/x/y/z/w', 'webhooks/x/nothing', ''])
    assertRefused(await call(home, `GET ${path}`), 404, 'route_not_found')
})

const found = async (query: Record<string, string>): Promise<string[]> =>
  itemsOf(await call(home, 'GET deliveries', { query })).map(({ id }) => id)

test('deliveries can be filtered by state, destination and record; submissions by endpoint; records by dataset', async () => {
  const { params } = await aDeliveredIn(home)
  const { delivery } = (await call(home, `GET deliveries/${params?.['id']}`)).body
  const { destination_id, record_id } = delivery
  assert.deepEqual(await found({ destination_id }), [delivery.id])
  assert.deepEqual(await found({ record_id, state: 'delivered' }), [delivery.id])
  assert.deepEqual(await found({ record_id, state: 'failed' }), [])
  assertRefused(await call(home, 'GET deliveries', { query: { state: 'lost' } }), 400, 'invalid_request')
  const { webhook } = await created(home, 'webhooks', {})
  const accepted = (await (await fetch(webhook.public_url, { method: 'POST', body: '{}' })).json()) as {
    id: string
    dataset: string
  }
  assert.deepEqual(
    itemsOf(await call(home, 'GET submissions', { query: { webhook_id: webhook.id } })).map(({ id }) => id),
    [accepted.id],
  )
  assert.equal(itemsOf(await call(home, 'GET records', { query: { dataset: accepted.dataset } })).length, 1)
})
