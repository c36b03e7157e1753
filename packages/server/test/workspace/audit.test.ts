import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import type { Ctx } from '../../src/context.ts'
import { hex } from '../../src/domain/workspace/audit-chain.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { audit, auditLog, pruneAudit } from '../../src/resources/workspace/audit/index.ts'
import { verifyChain } from '../../src/resources/workspace/audit/verify.ts'
import { inTransaction } from '../../src/transaction.ts'
import { aChain, aPlace, nth, quiet, rowsOf, write, writeMany } from '../stage/audit-chains.ts'
import { aName, aRule, aWebhook } from '../stage/fixtures.ts'
import { atGate, rowsGate } from '../stage/gates.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { loops: [] },
)

const get = async (path: string) => (await world.admin('GET', path)).body
const DAY_MS = 86_400_000

describe('GET /admin/api/audit', () => {
  test('a row records who did what to what, when, from where and through what, and how it continues the previous row', async () => {
    const webhook = await aWebhook(world)
    const { audit: rows } = await get('audit?limit=2')
    const me = await get('me')
    const { id, hash, prev_hash, details, ...row } = rows[0]
    assert.match(id, /^aud_/)
    assert.deepEqual(row, {
      at: '2026-01-15T12:00:00.000Z',
      actor: me.user.id,
      agent: `api_key:${me.api_key.id}`,
      action: 'create_webhook',
      target: webhook.id,
      ip: '127.0.0.1',
    })
    assert.deepEqual([details.name, details.scheme, details.before], [webhook.name, 'none', null])
    assert.equal(details.after.dataset, webhook.dataset)
    assert.deepEqual([prev_hash, /^[0-9a-f]{64}$/.test(hash)], [rows[1].hash, true])
  })

  test('each filter selects its rows, also combined, and a page continues where the previous one ended', async () => {
    const rule = await aRule(world)
    world.clock.advance(60_000)
    const noon = new Date(world.clock.now()).toISOString()
    await world.admin('PATCH', `rules/${rule.id}`, { enabled: false })
    world.clock.advance(60_000)
    await world.admin('DELETE', `rules/${rule.id}`)
    const later = new Date(world.clock.now()).toISOString()
    const me = await get('me')
    const actions = async (query: Record<string, string>): Promise<string[]> =>
      (await get(`audit?${new URLSearchParams(query).toString()}`)).audit.map(
        ({ action }: { action: string }) => action,
      )
    const all = ['delete_rule', 'update_rule', 'create_rule']
    assert.deepEqual(await actions({ target: rule.id }), all)
    assert.deepEqual(await actions({ target: rule.id, from: noon }), all.slice(0, 2))
    assert.deepEqual(await actions({ target: rule.id, to: noon }), ['create_rule'])
    assert.deepEqual(
      await actions({
        target: rule.id,
        from: noon,
        to: later,
        actor: me.user.id,
        agent: `api_key:${me.api_key.id}`,
        action: 'update_rule',
      }),
      ['update_rule'],
    )
    assert.deepEqual(await actions({ target: rule.id, actor: 'system' }), [])
    assert.deepEqual(await actions({ target: rule.id, agent: 'api_key:key_other' }), [])
    assert.ok((await actions({ actor: 'system' })).includes('create_workspace'))
    const first = await get(`audit?target=${rule.id}&limit=2`)
    await aRule(world)
    const second = await get(`audit?target=${rule.id}&limit=2&cursor=${first.next_cursor}`)
    assert.deepEqual(
      [...first.audit, ...second.audit].map(({ action }) => action),
      all,
    )
    assert.equal(second.next_cursor, null)
  })

  test('the log can be read while the workspace is suspended', async () => {
    await database.run(sql`update workspaces set suspended_at = now()`)
    for (const path of ['audit', 'audit/verify']) assert.equal((await world.admin('GET', path)).status, 200)
    await database.run(sql`update workspaces set suspended_at = null`)
  })
})

const csv = (query = ''): Promise<Response> =>
  fetch(`${world.baseUrl}/admin/api/audit.csv${query}`, {
    headers: { authorization: `Bearer ${world.installed.api_key}` },
  })
const cell = (value: unknown): string =>
  value === null ? '' : `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`

describe('GET /admin/api/audit.csv', () => {
  test('the CSV has the rows of the list, newest first, as a file that is never cached', async () => {
    const response = await csv()
    assert.deepEqual(
      ['content-type', 'content-disposition', 'cache-control', 'x-content-type-options'].map((name) =>
        response.headers.get(name),
      ),
      ['text/csv; charset=utf-8', 'attachment; filename="audit.csv"', 'no-store', 'nosniff'],
    )
    const lines = (await response.text()).split('\r\n')
    const { audit: rows } = await get('audit?limit=200')
    assert.equal(lines[0], '"id","at","actor","agent","action","target","ip","details","prev_hash","hash"')
    assert.deepEqual([lines.length, lines.at(-1)], [rows.length + 2, ''])
    for (const [index, row] of rows.entries()) assert.equal(lines[index + 1], Object.values(row).map(cell).join(','))
  })

  test('the CSV can be filtered like the list', async () => {
    const lines = (await (await csv('?action=create_rule')).text()).trimEnd().split('\r\n')
    assert.deepEqual(
      [lines.length - 1, lines.slice(1).every((line) => line.includes('"create_rule"'))],
      [(await get('audit?action=create_rule')).audit.length, true],
    )
    assert.equal((await csv('?from=yesterday')).status, 400)
  })

  test('the CSV contains every row once, no row that came after it started, and no formula', async () => {
    const ctx = quiet(aPlace(world))
    const rows = 1_234
    await database.run(sql`
      insert into audit_rows (workspace_id, id, at, actor, action, target, details, hash)
      select ${ctx.workspaceId}, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), 'system', 'many_rows', '=1+' || n, '{}', ''
        from generate_series(1, ${rows}) n
    `)
    const targets: string[] = []
    for await (const chunk of await auditLog.exportCsv(ctx, {})) {
      for (const [, target = ''] of chunk.matchAll(/"many_rows","([^"]*)"/g)) targets.push(target)
      await write(ctx)
    }
    assert.deepEqual(
      targets,
      Array.from({ length: rows }, (_, index) => `'=1+${rows - index}`),
    )
  })
})

describe('the chain', () => {
  test('the chain does not fork when two nodes write at the same time, nor when the clock of one is behind', async () => {
    const node = await aWorld({ beside: world, now: world.clock.now() - 3_600_000 })
    try {
      const here = aPlace(world)
      const there = aPlace(node, here.workspaceId)
      await Promise.all(Array.from({ length: 20 }, (_, index) => write(index % 2 === 0 ? here : there)))
      const late = '01bfffff-ffff-7fff-bfff-ffffffffff00'
      for (const id of [late, late.replace('01b', '01a'), late.replace('01b', '019'), late])
        await write({ ...here, uuid: () => id })
      const { ok, count } = await verifyChain(here)
      assert.deepEqual([ok, count], [true, 24])
    } finally {
      await node.stop()
    }
  })

  test('the chain has no row of a change that was rolled back', async () => {
    const ctx = await aChain(world, 2)
    await assert.rejects(
      inTransaction(ctx, async (tx) => {
        await audit(tx, { action: 'test_row' })
        throw new Error('no')
      }),
    )
    const { ok, count } = await verifyChain(ctx)
    assert.deepEqual([ok, count], [true, 2])
    const refused = aName('rule')
    await aRule(world, { name: refused })
    const had = (await get('audit/verify')).count
    assert.equal((await world.admin('POST', 'rules', { name: refused, dataset: 'd' })).status, 409)
    assert.equal((await get('audit/verify')).count, had)
  })

  test('two transactions that write to two chains in opposite orders both commit', async () => {
    const [a, b] = [await aChain(world, 1), await aChain(world, 1)]
    const inOrder = (chains: readonly Ctx[]): Promise<void> =>
      inTransaction(a, async (tx) => {
        for (const { workspaceId } of chains) await audit({ ...tx, workspaceId }, { action: 'test_row' })
      })
    const ends = rowsGate(
      'the ends of both chains',
      sql`select from audit_anchors where workspace_id in (${a.workspaceId}, ${b.workspaceId}) for update`,
    )
    const both = await atGate(database, ends, async (gate) => {
      const running = [inOrder([a, b]), inOrder([b, a])]
      // Both wait for their first lock; a wrong order would leave each with one that the other needs.
      await gate.waiting(2)
      return running
    })
    await Promise.all(both)
    for (const chain of [a, b])
      assert.deepEqual([(await verifyChain(chain)).ok, (await rowsOf(database, chain)).length], [true, 3])
  })

  test('the end of the chain is locked last: a change that has its row waits for no other chain until it commits', async () => {
    const ctx = await aChain(world, 1)
    const said: string[] = []
    await inTransaction(ctx, async (tx) => {
      await audit(tx, { action: 'test_row' })
      await write(ctx, 'meanwhile')
      said.push('the other one committed')
    })
    assert.deepEqual(said, ['the other one committed'])
    assert.deepEqual(
      (await rowsOf(database, ctx)).map(({ action }) => action),
      ['test_row', 'meanwhile', 'test_row'],
    )
    assert.equal((await verifyChain(ctx)).ok, true)
  })
})

const atDay = (ctx: Ctx, day: number): Ctx => ({
  ...ctx,
  clock: { ...ctx.clock, now: () => world.clock.now() + day * DAY_MS },
})
const prune = (day: number): Promise<unknown> => pruneAudit(atDay(aPlace(world), day))

describe('retention of audit rows', () => {
  test('rows are retained for 365 days; then the chain starts at the oldest retained row, and still verifies', async () => {
    const ctx = aPlace(world)
    for (const day of [0, 1, 2, 10]) await write(atDay(ctx, day))
    const rows = await rowsOf(database, ctx)
    await prune(365)
    assert.equal((await rowsOf(database, ctx)).length, 4)
    await prune(367.5)
    assert.deepEqual(
      (await rowsOf(database, ctx)).map(({ id }) => id),
      rows.slice(3).map(({ id }) => id),
    )
    const { ok, count, removed, oldest } = await verifyChain(ctx)
    assert.deepEqual([ok, count, removed, oldest?.id], [true, 1, 3, encodeId('audit', nth(rows, 3).id)])
    await write(atDay(ctx, 11))
    assert.deepEqual([(await verifyChain(ctx)).ok, (await verifyChain(ctx)).count], [true, 2])
    await database.run(sql`delete from audit_rows where id = ${nth(rows, 3).id}`)
    assert.equal((await verifyChain(ctx)).problem?.kind, 'missing')
  })

  test('a chain whose rows have all expired continues where it ended', async () => {
    const ctx = await aChain(world, 3)
    const last = nth(await rowsOf(database, ctx), 2)
    await prune(400)
    assert.deepEqual(
      [(await verifyChain(ctx)).ok, (await verifyChain(ctx)).removed, (await rowsOf(database, ctx)).length],
      [true, 3, 0],
    )
    await write(atDay(ctx, 400))
    assert.equal(hex(nth(await rowsOf(database, ctx), 0).prev_hash), hex(last.hash))
    assert.equal((await verifyChain(ctx)).ok, true)
  })

  test('the rows of a workspace are retained as long as its plan allows, and then removed in batches', async () => {
    const workspaceId = decodeId('workspace', world.installed.workspace.id) ?? ''
    const { count } = await get('audit/verify')
    await prune(10_000)
    assert.equal((await get('audit/verify')).count, count)
    await database.run(sql`update workspaces set plan = 'business' where id = ${workspaceId}`)
    for (let times = 0; times < 5; times += 1) await writeMany(aPlace(world, workspaceId), 220)
    await prune(1_094)
    assert.equal((await get('audit/verify')).removed, 0)
    await prune(1_097)
    const { ok, removed } = await get('audit/verify')
    assert.deepEqual([ok, removed], [true, count + 1_100])
    await database.run(sql`update workspaces set plan = 'self_hosted' where id = ${workspaceId}`)
  })

  test('a chain whose anchor is lost loses no row', async () => {
    const ctx = await aChain(world, 2)
    await database.run(sql`delete from audit_anchors where workspace_id = ${ctx.workspaceId}`)
    await prune(1_000)
    assert.equal((await rowsOf(database, ctx)).length, 2)
  })

  test('a start that moves while a chain is read is not a fault', async () => {
    const ctx = aPlace(world)
    for (const day of [0, 0, 900]) await write(atDay(ctx, day))
    let pruned = false
    const many: Db['many'] = async (query) => {
      if (!pruned) {
        pruned = true
        await prune(500)
      }
      return ctx.db.many<never>(query)
    }
    const { ok, count, removed } = await verifyChain({ ...ctx, db: { ...ctx.db, many } })
    assert.deepEqual([ok, count, removed], [true, 1, 2])
  })
})
