import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDataKey, readData } from '../stage/data-client.ts'
import { anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { call, connected } from '../stage/mcp-client.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Work is limited by the plan: one bucket for a workspace on all surfaces, and one for each credential of ingest. */
let world: World
let database: Database
let workspaceId: string

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    workspaceId = decodeId('workspace', (await world.admin('GET', 'workspace')).body.workspace.id) ?? assert.fail()
  },
  { loops: [] },
)

async function onPlan(plan: string): Promise<void> {
  await database.run(sql`update workspaces set plan = ${plan}`)
  world.app.deps.configChanged(decodeId('project', world.installed.project.id) ?? '')
  // Time pays for the work of the previous test, and ends its burst.
  await world.admin('GET', 'me')
  world.clock.advance(600_000)
}

const owe = (ms: number): void => world.app.deps.work.charge(workspaceId, ms)
const said = ({ status, body }: Answer): string => `${status} ${body.reason ?? ''}`.trim()

test('a workspace that owes work is refused on every surface with its wait, and served when the time has paid for it', async () => {
  const { key } = await aDataKey(world)
  const ingestKey = await anIngestKey(world, { scopes: ['stream'] })
  await onPlan('free')
  const agent = await connected(world, { key: world.installed.api_key })
  const streamed = async (path: string, credential: string): Promise<string> => {
    const client = await sse(`${world.baseUrl}${path}`, { headers: { authorization: `Bearer ${credential}` } })
    client.close()
    return String(client.status)
  }
  const surfaces: Readonly<Record<string, () => Promise<string>>> = {
    admin: async () => said(await world.admin('GET', 'webhooks')),
    data: async () => {
      const { status, body } = await readData({ world, key }, '')
      return `${status} ${body.reason ?? ''}`.trim()
    },
    stream: () => streamed('/admin/api/stream', world.installed.api_key),
    'stream of a key': () => streamed('/v1/stream', ingestKey.key),
    mcp: async () => JSON.stringify(await call(agent, 'endpoints_list', {})),
  }
  for (const [name, ask] of Object.entries(surfaces)) {
    const answer = await ask()
    assert.match(answer, /^200|"webhooks"/, `${name}: ${answer}`)
  }
  owe(25_000)
  const { status, headers, body } = await world.admin('GET', 'webhooks')
  assert.deepEqual([status, body.reason], [429, 'work_limited'])
  // The plan has 10 s at once, and pays 100 ms a second: 15 s are left to pay, and a little for the requests before.
  assert.ok(body.retry_after > 149 && body.retry_after < 152, String(body.retry_after))
  assert.equal(headers.get('retry-after'), String(body.retry_after))
  for (const [name, ask] of Object.entries(surfaces)) {
    const answer = await ask()
    assert.match(answer, /429|work_limited/, `${name}: ${answer}`)
  }
  world.clock.advance(1_000 * body.retry_after)
  assert.equal(said(await world.admin('GET', 'webhooks')), '200')
  await agent.close()
})

test('ingest goes on while its workspace owes work', async () => {
  const { public_url } = await aWebhook(world)
  await onPlan('free')
  await world.admin('GET', 'me')
  owe(60_000)
  assert.equal((await world.admin('GET', 'webhooks')).status, 429)
  assert.equal((await post(public_url, '{}')).status, 201)
})

test('a plan without a limit charges nothing', async () => {
  await onPlan('self_hosted')
  owe(60_000)
  assert.equal((await world.admin('GET', 'webhooks')).status, 200)
})

test('a request costs the more, the more it writes, and a task in a thread costs its processor time', async () => {
  const { public_url } = await aWebhook(world, { dataset: 'costly' })
  await onPlan('free')
  const spent = async (ask: () => Promise<unknown>): Promise<number> => {
    await world.admin('GET', 'me')
    await world.idle()
    const before = world.app.deps.work.load().chargedMs
    await ask()
    await world.idle()
    return world.app.deps.work.load().chargedMs - before
  }
  const small = await spent(() => world.admin('GET', 'records?dataset=costly'))
  for (let sent = 0; sent < 3; sent += 1) await post(public_url, JSON.stringify({ text: 'x'.repeat(400_000), sent }))
  const large = await spent(() => world.admin('GET', 'records?dataset=costly'))
  assert.ok(small >= 1 && large > small + 50, `${small} ${large}`)
  const conditions = [{ path: 'text', op: 'contains', value: 'y' }]
  const ran = world.app.deps.heavy.load().cpuMs
  const tried = await spent(() => world.admin('POST', 'rules/test', { rule: { conditions, dataset: 'costly' } }))
  assert.ok(tried >= world.app.deps.heavy.load().cpuMs - ran, String(tried))
})

test('the bytes of bodies and refused requests are charged to the URL or key, which is refused alone', async () => {
  const { id, public_url } = await aWebhook(world)
  const other = await aWebhook(world)
  await onPlan('free')
  assert.equal((await post(public_url, '{}')).status, 201)
  assert.equal((await post(other.public_url, '{}')).status, 201)
  const payer = decodeId('webhook', id) ?? assert.fail()
  // All but 3 ms of the 10 s that the plan has at once.
  world.app.deps.work.charge(payer, 9_997)
  const body = gzipSync(JSON.stringify({ a: Array.from({ length: 100_000 }, (_, n) => n) }))
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
  assert.equal((await post(public_url, body, { headers })).status, 201)
  const refused = await post(public_url, '{}')
  assert.deepEqual([refused.status, refused.body.reason], [429, 'work_limited'])
  assert.ok(refused.body.retry_after >= 1)
  assert.equal((await post(other.public_url, '{}')).status, 201)
  world.clock.advance(1_000 * refused.body.retry_after)
  assert.equal((await post(public_url, '{}')).status, 201)
})

test('a refused body costs more than an accepted one of its size, and takes nothing from a quota', async () => {
  const { id, public_url } = await aWebhook(world)
  await onPlan('free')
  await post(public_url, '{}')
  const spent = async (body: string, status: number): Promise<number> => {
    const before = world.app.deps.work.load().chargedMs
    assert.equal((await post(public_url, body)).status, status)
    return world.app.deps.work.load().chargedMs - before
  }
  assert.ok((await spent('{"a"]', 400)) > (await spent('{"a":1}', 201)) + 0.1)
  const events = async (): Promise<number> => (await world.admin('GET', 'dashboard/summary')).body.summary.usage.events
  const counted = await events()
  await spent('{"a"]', 400)
  assert.equal(await events(), counted)
  assert.ok(id)
})
