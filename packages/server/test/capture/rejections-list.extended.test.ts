import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { createRejections, type Rejections } from '../../src/pipeline/rejections.ts'
import type { Receiver } from '../../src/pipeline/types.ts'
import { aName, anIngestKey, aWebhook, post, statement } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { aNewMinute, listed, logged, MINUTE_MS, type Row } from '../stage/rejection-log.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The list of rejected requests, its behavior in a flood, and the retention of its rows. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { INGEST_BODY_BYTES: '1000', LOG_LEVEL: 'silent' }, loops: [] },
)
beforeEach(() => aNewMinute(world))

const DAY_MS = 86_400_000

function reasonsOf(rows: readonly Row[]): string[] {
  return rows.map(({ reason }): string => reason).toSorted()
}

/** The log of a process that counts its statements, and a way to refuse requests without sending them. */
async function aLog(entriesMax?: number) {
  const { public_url } = await aWebhook(world)
  await post(public_url, '{}')
  const at = await database.one<{ workspace_id: string; id: string }>(
    sql`select workspace_id, id from projects where is_default`,
  )
  let statements = 0
  const { database: real } = world.app.deps
  const counting = { ...real, run: (query: Parameters<typeof real.run>[0]) => ((statements += 1), real.run(query)) }
  const rejections = createRejections(
    { ...world.app.deps, database: counting },
    entriesMax === undefined ? {} : { entriesMax },
  )
  const plan = { workspaceId: at.workspace_id, projectId: at.id }
  const refuse = (webhookId: string, sourceIp: string): void => {
    const receiver = { plan, webhook: { id: webhookId }, ingestKeyId: undefined } as unknown as Receiver
    const captured = {
      asked: { kind: 'event' },
      headers: {},
      sourceIp,
      receivedAt: world.clock.now(),
    } as unknown as Parameters<Rejections['note']>[0]['captured']
    const unread = { body: Buffer.alloc(0), content: Buffer.alloc(0), isProven: false }
    rejections.note({ captured, receiver, ...unread }, { kind: 'rejected', reason: 'bad_signature' })
  }
  return { rejections, refuse, statements: () => statements }
}
const countOf = async (webhookId: string): Promise<number> =>
  (
    await database.one<{ count: number }>(
      sql`select coalesce(sum(count), 0)::bigint as count from rejections where webhook_id = ${webhookId}`,
    )
  ).count

describe('a flood', () => {
  test('a flood of forgeries from many addresses writes one row by one statement', async () => {
    const { rejections, refuse, statements } = await aLog()
    const webhook = world.app.deps.uuid()
    for (let sent = 0; sent < 20_000; sent += 1) refuse(webhook, `198.51.${sent >> 8}.${sent & 255}`)
    await rejections.flush()
    assert.deepEqual([await countOf(webhook), statements()], [20_000, 1])
  })

  test('a flood at more credentials than the memory stores is counted as lost, and the memory stays bounded', async () => {
    const { rejections, refuse } = await aLog(100)
    const webhooks = Array.from({ length: 150 }, () => world.app.deps.uuid())
    for (const webhook of webhooks) for (let sent = 0; sent < 3; sent += 1) refuse(webhook, '198.51.100.7')
    assert.equal(rejections.lost, 150)
    await rejections.flush()
    const counts = await Promise.all(webhooks.map(countOf))
    assert.deepEqual(
      counts,
      webhooks.map((_, index) => (index < 100 ? 3 : 0)),
    )
    refuse(webhooks[149] ?? '', '198.51.100.7')
    await rejections.flush()
    assert.equal(await countOf(webhooks[149] ?? ''), 1)
  })

  test('a flood while the database is unavailable is written when it accepts statements again, each refusal once', async () => {
    const { rejections, refuse } = await aLog()
    const webhook = world.app.deps.uuid()
    refuse(webhook, '198.51.100.7')
    await statement(database, 'alter table rejections rename to rejections_gone')
    await assert.rejects(rejections.flush())
    refuse(webhook, '198.51.100.8')
    await assert.rejects(rejections.flush())
    await statement(database, 'alter table rejections_gone rename to rejections')
    await rejections.flush()
    await rejections.flush()
    assert.equal(await countOf(webhook), 2)
    assert.equal(rejections.lost, 0)
  })
})

describe('the list', () => {
  test('the list can be filtered by endpoint, key, reason and time, and paged', async () => {
    const first = await aWebhook(world)
    const second = await aWebhook(world, { enabled: false })
    const early = new Date(world.clock.now()).toISOString()
    await post(first.public_url, '')
    await post(first.public_url, '{')
    aNewMinute(world)
    const late = new Date(world.clock.now() + 30_000).toISOString()
    await post(second.public_url, '{}')
    await logged(world, 1, { webhook_id: second.id })
    await logged(world, 2, { webhook_id: first.id })
    const reasons = async (query: Record<string, string>): Promise<string[]> => reasonsOf(await listed(world, query))
    assert.deepEqual(await reasons({ webhook_id: first.id }), ['empty_body', 'invalid_body'])
    assert.deepEqual(await reasons({ webhook_id: first.id, reason: 'empty_body' }), ['empty_body'])
    assert.deepEqual(await reasons({ from: late }), ['endpoint_disabled'], 'a minute that has begun is inside')
    assert.deepEqual(await reasons({ from: early, to: late }), ['empty_body', 'endpoint_disabled', 'invalid_body'])
    assert.deepEqual(await reasons({ from: early, to: new Date(Date.parse(early) + MINUTE_MS).toISOString() }), [
      'empty_body',
      'invalid_body',
    ])
    assert.deepEqual(await reasons({ ingest_key_id: (await anIngestKey(world)).id }), [])
    const page = await world.admin('GET', `rejections?webhook_id=${first.id}&limit=1`)
    const next = await world.admin('GET', `rejections?webhook_id=${first.id}&limit=1&cursor=${page.body.next_cursor}`)
    assert.deepEqual([...page.body.rejections, ...next.body.rejections], await listed(world, { webhook_id: first.id }))
    assert.equal(next.body.next_cursor, null)
    assert.equal((await world.admin('GET', 'rejections?reason=lost')).body.reason, 'invalid_request')
  })
})

describe('retention of the rows', () => {
  test('rows are retained as long as the plan retains events', async () => {
    const { id, public_url } = await aWebhook(world)
    await post(public_url, '')
    await logged(world, 1, { webhook_id: id })
    world.clock.advance(29 * DAY_MS)
    const { id: later, public_url: laterUrl } = await aWebhook(world)
    await post(laterUrl, '')
    await logged(world, 1, { webhook_id: later })
    assert.equal((await listed(world, { webhook_id: id })).length, 1)
    world.clock.advance(2 * DAY_MS)
    await world.run('upkeep')
    assert.deepEqual(await listed(world, { webhook_id: id }), [])
    assert.equal((await listed(world, { webhook_id: later })).length, 1)
    world.clock.advance(6 * DAY_MS)
    await statement(database, "update workspaces set plan = 'free'")
    await world.run('upkeep')
    assert.deepEqual(await listed(world, { webhook_id: later }), [])
    await statement(database, "update workspaces set plan = 'self_hosted'")
  })

  test('rows are deleted with their project, also rows that were counted during the deletion', async () => {
    const { project } = (await world.admin('POST', 'projects', { name: aName('short-lived') })).body
    const { webhook } = (await world.admin('POST', `projects/${project.id}/webhooks`, { name: 'w' })).body
    await post(webhook.public_url, '')
    await world.run('rejections.flush')
    assert.equal((await listed(world, {}, project.id)).length, 1)
    await post(webhook.public_url, '')
    assert.equal((await world.admin('DELETE', `projects/${project.id}`)).status, 200)
    const left = async (): Promise<number> =>
      (
        await database.one<{ count: number }>(
          sql`select count(*) as count from rejections where project_id = ${decodeId('project', project.id) ?? ''}`,
        )
      ).count
    // The earlier refusals are written by now.
    const { id, public_url } = await aWebhook(world)
    await post(public_url, '')
    await logged(world, 1, { webhook_id: id })
    assert.equal(await left(), 0)
  })
})
