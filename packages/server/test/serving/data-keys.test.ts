import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { reinstateWorkspace, suspendWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { aDataKey, readData } from '../stage/data-client.ts'
import { aName, aWebhook, behind, post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const aDataset = async (): Promise<string> => {
  const dataset = aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
  const { public_url: url } = await aWebhook(world, { dataset })
  await post(url, '{"n":1}')
  return dataset
}

test('a key is shown once, and the database has only its hash', async () => {
  const { status, headers, body } = await world.admin('POST', 'data-keys', { name: 'Warehouse' })
  assert.equal(status, 201)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(body.key, /^hdk_[A-Za-z0-9]{43}$/)
  assert.equal(body.data_key.shown_prefix, body.key.slice(0, 12))
  assert.equal(body.data_key.status, 'active')
  assert.equal(body.data_key.requests_per_10_seconds, LIMITS.dataKeyRequestsDefault)
  const { data_key } = (await world.admin('GET', `data-keys/${body.data_key.id}`)).body
  assert.deepEqual(data_key, body.data_key)
  const dump = await behind(world).many(sql`select row_to_json(k)::text as text from data_keys k`)
  assert.ok(!JSON.stringify(dump).includes(body.key.slice(12)))
})

test('the Data API refuses a request without a key, with an unknown key, and with a key of another kind', async () => {
  for (const key of ['', 'hdk_unknown', world.installed.api_key]) {
    const { status, body } = await readData({ world, key }, '')
    assert.deepEqual([status, body.reason], [401, 'data_key_required'])
  }
  assert.equal((await fetch(`${world.baseUrl}/v1/data`)).status, 401)
  const { key } = await aDataKey(world)
  assert.equal((await fetch(`${world.baseUrl}/v1/data?key=${key}`)).status, 401, 'a URL is no place for a key')
  const admin = await fetch(`${world.baseUrl}/admin/api/me`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(admin.status, 401, 'it is no key of the admin API')
})

test('a key with datasets reads and lists only those, and learns nothing of others', async () => {
  const [mine, other] = [await aDataset(), await aDataset()]
  const { id, key } = await aDataKey(world, { datasets: [mine] })
  assert.deepEqual(
    (await readData({ world, key }, '')).body.datasets.map(({ name }: { name: string }) => name),
    [mine],
  )
  assert.equal((await readData({ world, key }, `/${mine}`)).status, 200)
  for (const path of [`/${other}`, '/nowhere', `/${other}/rec_01kf0rdqg0e31tkzsaqv275w2x`]) {
    const { status, body } = await readData({ world, key }, path)
    assert.deepEqual([status, body.reason], [403, 'dataset_not_allowed'])
  }
  assert.equal((await world.admin('PATCH', `data-keys/${id}`, { datasets: null })).status, 200)
  assert.equal((await readData({ world, key }, `/${other}`)).status, 200)
  assert.equal((await readData({ world, key }, '/nowhere')).body.reason, 'not_found')
})

test('a key ends at its expiry and when it is revoked', async () => {
  const expires_at = new Date(world.clock.now() + 60_000).toISOString()
  const { id, key } = await aDataKey(world, { expires_at })
  assert.equal((await readData({ world, key }, '')).status, 200)
  world.clock.advance(60_000)
  assert.equal((await readData({ world, key }, '')).body.reason, 'data_key_expired')
  assert.equal((await world.admin('GET', `data-keys/${id}`)).body.data_key.status, 'expired')
  await world.admin('PATCH', `data-keys/${id}`, { expires_at: null })
  assert.equal((await readData({ world, key }, '')).status, 200)
  assert.equal((await world.admin('DELETE', `data-keys/${id}`)).status, 200)
  assert.equal((await readData({ world, key }, '')).body.reason, 'data_key_required')
  const past = await world.admin('POST', 'data-keys', { name: 'Late', expires_at: '2020-01-01T00:00:00Z' })
  assert.match(past.body.error, /^expires_at must be in the future/)
})

test('a key counts its requests: above its rate it waits for 10 seconds', async () => {
  const { key } = await aDataKey(world, { requests_per_10_seconds: 2 })
  const { key: other } = await aDataKey(world, { requests_per_10_seconds: 2 })
  for (let n = 0; n < 2; n += 1) assert.equal((await readData({ world, key }, '')).status, 200)
  const { status, headers, body } = await readData({ world, key }, '')
  assert.deepEqual([status, body.reason, headers.get('retry-after')], [429, 'rate_limited', '10'])
  assert.equal((await readData({ world, key: other }, '')).status, 200)
  world.clock.advance(10_000)
  assert.equal((await readData({ world, key }, '')).status, 200)
})

test('a key with an allowlist works only from its addresses', async () => {
  const { id, key } = await aDataKey(world, { ip_allowlist: ['203.0.113.0/24'] })
  const { status, body } = await readData({ world, key }, '')
  assert.deepEqual([status, body.reason], [403, 'ip_not_allowed'])
  await world.admin('PATCH', `data-keys/${id}`, { ip_allowlist: ['127.0.0.1', '::1'] })
  assert.equal((await readData({ world, key }, '')).status, 200)
})

test('the last use of a key is stored, at most once a minute', async () => {
  const { id, key } = await aDataKey(world)
  const usedAt = async (): Promise<unknown> => (await world.admin('GET', `data-keys/${id}`)).body.data_key.last_used_at
  assert.equal(await usedAt(), null)
  await readData({ world, key }, '')
  const first = await usedAt()
  assert.equal(first, new Date(world.clock.now()).toISOString())
  world.clock.advance(30_000)
  await readData({ world, key }, '')
  assert.equal(await usedAt(), first)
  world.clock.advance(30_001)
  await readData({ world, key }, '')
  assert.equal(await usedAt(), new Date(world.clock.now()).toISOString())
})

test('while the workspace is suspended every address of the Data API answers 403 workspace_suspended', async () => {
  const dataset = await aDataset()
  const { key } = await aDataKey(world)
  const { slug } = world.installed.workspace
  await suspendWorkspace(world.app.deps, { slug, reason: 'unpaid' })
  try {
    for (const path of ['', `/${dataset}`, `/${dataset}/rec_01kf0rdqg0e31tkzsaqv275w2x`]) {
      const { status, body } = await readData({ world, key }, path)
      assert.deepEqual([status, body.reason], [403, 'workspace_suspended'])
    }
  } finally {
    await reinstateWorkspace(world.app.deps, { slug })
  }
  assert.equal((await readData({ world, key }, `/${dataset}`)).status, 200)
})

test('creation, change and revocation of a key are audited without the key', async () => {
  const { id, key } = await aDataKey(world)
  await world.admin('PATCH', `data-keys/${id}`, { name: 'Other' })
  await world.admin('DELETE', `data-keys/${id}`)
  const { audit } = (await world.admin('GET', `audit?target=${id}`)).body
  assert.deepEqual(
    audit.map(({ action }: { action: string }) => action),
    ['revoke_data_key', 'update_data_key', 'create_data_key'],
  )
  assert.ok(!JSON.stringify(audit).includes(key.slice(4)))
})

test('a key of a deleted project is unknown', async () => {
  const { id } = (await world.admin('POST', 'projects', { name: aName('project') })).body.project
  const { key } = (await world.admin('POST', `projects/${id}/data-keys`, { name: 'Reader' })).body
  assert.equal((await readData({ world, key }, '')).status, 200)
  await world.admin('DELETE', `projects/${id}`)
  assert.equal((await readData({ world, key }, '')).body.reason, 'data_key_required')
})
