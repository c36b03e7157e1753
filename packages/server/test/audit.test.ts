import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import type { Ctx } from '../src/context.ts'
import { hashOf, hex, type StoredLink } from '../src/domain/audit-chain.ts'
import { secretPlace } from '../src/domain/secret-place.ts'
import { sql, type Database, type Db } from '../src/platform/db.ts'
import { anchorChains, audit, auditLog, findBrokenChains, pruneAudit } from '../src/resources/audit/index.ts'
import { verifyChain, type Verification } from '../src/resources/audit/verify.ts'
import { inTransaction } from '../src/transaction.ts'
import { aName, aRule, aWebhook, behind } from './fixtures.ts'
import { aWorld, eventually, type World } from './harness.ts'

let world: World
let database: Database

before(async () => {
  world = await aWorld()
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
})

const get = async (path: string) => (await world.admin('GET', path)).body
const DAY_MS = 86_400_000

/** What a verb has, in a workspace of its own that nothing else writes to. */
function aPlace(workspaceId = world.app.deps.uuid(), of: World = world): Ctx {
  const { deps } = of.app
  return { ...deps, workspaceId, projectId: workspaceId, db: deps.database, actor: { kind: 'system', role: 'owner' }, requestId: 'test', ip: undefined }
}

const write = (ctx: Ctx, action = 'test_row'): Promise<void> => inTransaction(ctx, (tx) => audit(tx, { action, target: 'whk_x', details: { n: 1 } }))

/** For what is logged as an error, and is none of the test. */
const quiet = (ctx: Ctx): Ctx => ({ ...ctx, log: { ...ctx.log, error: () => undefined } })

async function aChain(rows: number): Promise<Ctx> {
  const ctx = aPlace()
  for (let begun = 0; begun < rows; begun += ROWS_AT_ONCE) await writeMany(ctx, Math.min(ROWS_AT_ONCE, rows - begun))
  return ctx
}

const ROWS_AT_ONCE = 200
const writeMany = (ctx: Ctx, rows: number): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    for (let count = 0; count < rows; count += 1) await audit(tx, { action: 'test_row', details: { count } })
  })

const verify = (ctx: Ctx): Promise<Verification> => verifyChain(ctx)
const rowsOf = ({ workspaceId }: Ctx): Promise<readonly StoredLink[]> =>
  database.many<StoredLink>(sql`select id, at, actor, agent, action, target, ip, details, prev_hash, hash from audit_rows where workspace_id = ${workspaceId} order by id`)

/** Inserts a row as somebody would who knows how rows are hashed. */
async function forge(ctx: Ctx, row: StoredLink): Promise<void> {
  await database.run(sql`
    insert into audit_rows (workspace_id, id, at, actor, agent, action, target, ip, details, prev_hash, hash)
    values (${ctx.workspaceId}, ${row.id}, ${row.at}, ${row.actor}, ${row.agent}, ${row.action}, ${row.target}, ${row.ip}, ${row.details}, ${row.prev_hash}, ${row.hash})
  `)
}

const nth = (rows: readonly StoredLink[], index: number): StoredLink => rows.at(index) ?? assert.fail(`no row ${index}`)

async function assertProblem(ctx: Ctx, expected: { kind: string; id: string; count: number }): Promise<void> {
  const { ok, count, problem } = await verify(ctx)
  assert.deepEqual({ ok, kind: problem?.kind, id: problem?.id, count }, { ok: false, kind: expected.kind, id: encodeId('audit', expected.id), count: expected.count })
  assert.match(problem?.text ?? '', /^[A-Z].*\.$/)
}

describe('GET /admin/api/audit', () => {
  test('a row says who did what to what, when, from where and through what, and how it continues the row before', async () => {
    const webhook = await aWebhook(world)
    const { audit: rows } = await get('audit?limit=2')
    const me = await get('me')
    const { id, hash, prev_hash, details, ...row } = rows[0]
    assert.match(id, /^aud_/)
    assert.deepEqual(row, { at: '2026-01-15T12:00:00.000Z', actor: me.user.id, agent: `api_key:${me.api_key.id}`, action: 'create_webhook', target: webhook.id, ip: '127.0.0.1' })
    assert.deepEqual(details, { name: webhook.name, scheme: 'none' })
    assert.deepEqual([prev_hash, /^[0-9a-f]{64}$/.test(hash)], [rows[1].hash, true])
  })

  test('each filter leaves the rows that it names, all of them together too, and a page goes on where the one before ended', async () => {
    const rule = await aRule(world)
    world.clock.advance(60_000)
    const noon = new Date(world.clock.now()).toISOString()
    await world.admin('PATCH', `rules/${rule.id}`, { enabled: false })
    world.clock.advance(60_000)
    await world.admin('DELETE', `rules/${rule.id}`)
    const later = new Date(world.clock.now()).toISOString()
    const me = await get('me')
    const actions = async (query: Record<string, string>): Promise<string[]> =>
      (await get(`audit?${new URLSearchParams(query).toString()}`)).audit.map(({ action }: { action: string }) => action)
    const all = ['delete_rule', 'update_rule', 'create_rule']
    assert.deepEqual(await actions({ target: rule.id }), all)
    assert.deepEqual(await actions({ target: rule.id, from: noon }), all.slice(0, 2))
    assert.deepEqual(await actions({ target: rule.id, to: noon }), ['create_rule'])
    assert.deepEqual(await actions({ target: rule.id, from: noon, to: later, actor: me.user.id, agent: `api_key:${me.api_key.id}`, action: 'update_rule' }), ['update_rule'])
    assert.deepEqual(await actions({ target: rule.id, actor: 'system' }), [])
    assert.deepEqual(await actions({ target: rule.id, agent: 'api_key:key_other' }), [])
    assert.ok((await actions({ actor: 'system' })).includes('create_workspace'))
    const first = await get(`audit?target=${rule.id}&limit=2`)
    await aRule(world)
    const second = await get(`audit?target=${rule.id}&limit=2&cursor=${first.next_cursor}`)
    assert.deepEqual([...first.audit, ...second.audit].map(({ action }) => action), all)
    assert.equal(second.next_cursor, null)
  })

  test('it is read while the workspace is suspended', async () => {
    await database.run(sql`update workspaces set suspended_at = now()`)
    for (const path of ['audit', 'audit/verify']) assert.equal((await world.admin('GET', path)).status, 200)
    await database.run(sql`update workspaces set suspended_at = null`)
  })
})

const csv = (query = ''): Promise<Response> => fetch(`${world.baseUrl}/admin/api/audit.csv${query}`, { headers: { authorization: `Bearer ${world.installed.api_key}` } })
const cell = (value: unknown): string => (value === null ? '' : `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`)

describe('GET /admin/api/audit.csv', () => {
  test('has the rows of the list, newest first, as a file that nobody keeps', async () => {
    const response = await csv()
    assert.deepEqual(
      ['content-type', 'content-disposition', 'cache-control', 'x-content-type-options'].map((name) => response.headers.get(name)),
      ['text/csv; charset=utf-8', 'attachment; filename="audit.csv"', 'no-store', 'nosniff'],
    )
    const lines = (await response.text()).split('\r\n')
    const { audit: rows } = await get('audit?limit=200')
    assert.equal(lines[0], '"id","at","actor","agent","action","target","ip","details","prev_hash","hash"')
    assert.deepEqual([lines.length, lines.at(-1)], [rows.length + 2, ''])
    for (const [index, row] of rows.entries()) assert.equal(lines[index + 1], Object.values(row).map(cell).join(','))
  })

  test('filters as the list does', async () => {
    const lines = (await (await csv('?action=create_rule')).text()).trimEnd().split('\r\n')
    assert.deepEqual([lines.length - 1, lines.slice(1).every((line) => line.includes('"create_rule"'))], [(await get('audit?action=create_rule')).audit.length, true])
    assert.equal((await csv('?from=yesterday')).status, 400)
  })

  test('holds as many rows as there are, each once, none that came after it began, and no formula', async () => {
    const ctx = quiet(aPlace())
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
    assert.deepEqual(targets, Array.from({ length: rows }, (_, index) => `'=1+${rows - index}`))
  })
})

describe('GET /admin/api/audit/verify', () => {
  test('says that everything fits, how much that is, and the hash of the newest row', async () => {
    await aWebhook(world)
    const found = await get('audit/verify')
    const { audit: rows } = await get('audit?limit=200')
    const [newest, oldest] = [rows[0], rows.at(-1)]
    assert.deepEqual(found, {
      ok: true,
      count: rows.length,
      removed: 0,
      oldest: { id: oldest.id, at: oldest.at },
      newest: { id: newest.id, at: newest.at, hash: newest.hash },
      problem: null,
    })
  })

  test('reads chains that are longer than a page, and one that is empty', async () => {
    const { ok, count } = await verify(await aChain(1_345))
    assert.deepEqual([ok, count], [true, 1_345])
    assert.deepEqual(await verify(aPlace()), { ok: true, count: 0, removed: 0, oldest: null, newest: null, problem: null })
  })

  test('finds the row that was changed, whatever was changed in it', async () => {
    for (const change of ["actor = 'usr_x'", "action = 'nothing'", "target = 'whk_y'", "ip = '10.0.0.1'", "agent = 'x'", "details = '{}'", "at = at - interval '1 day'", "hash = '\\x00'", "prev_hash = '\\x00'"]) {
      const ctx = await aChain(5)
      const row = nth(await rowsOf(ctx), 2)
      await database.run({ strings: [`update audit_rows set ${change} where id = '${row.id}'`], values: [] })
      await assertProblem(ctx, { kind: 'changed', id: row.id, count: 2 })
    }
  })

  test('finds where a row is missing, at the begin too, also when the one before was changed with its hash', async () => {
    for (const index of [0, 2]) {
      const ctx = await aChain(5)
      const rows = await rowsOf(ctx)
      await database.run(sql`delete from audit_rows where id = ${nth(rows, index).id}`)
      await assertProblem(ctx, { kind: 'missing', id: nth(rows, index + 1).id, count: index })
    }
    const ctx = await aChain(5)
    const rows = await rowsOf(ctx)
    const forged = { ...nth(rows, 2), details: '{"harmless":true}' }
    await database.run(sql`delete from audit_rows where id = ${forged.id}`)
    await forge(ctx, { ...forged, hash: hashOf(forged, forged.prev_hash) })
    await assertProblem(ctx, { kind: 'missing', id: nth(rows, 3).id, count: 3 })
  })

  test('finds where rows were moved', async () => {
    const ctx = await aChain(5)
    const rows = await rowsOf(ctx)
    await database.run(sql`update audit_rows set id = ${nth(rows, 4).id.replace(/.$/, (digit) => (digit === 'f' ? 'e' : 'f'))} where id = ${nth(rows, 1).id}`)
    await assertProblem(ctx, { kind: 'reordered', id: nth(rows, 2).id, count: 1 })
  })

  test('finds that the newest rows were cut off, and that all were', async () => {
    const ctx = await aChain(5)
    const rows = await rowsOf(ctx)
    await database.run(sql`delete from audit_rows where workspace_id = ${ctx.workspaceId} and id >= ${nth(rows, 3).id}`)
    await assertProblem(ctx, { kind: 'cut_off', id: nth(rows, 4).id, count: 3 })
    assert.match((await verify(ctx)).problem?.text ?? '', / 2 of them\./)
    await database.run(sql`delete from audit_rows where workspace_id = ${ctx.workspaceId}`)
    await assertProblem(ctx, { kind: 'cut_off', id: nth(rows, 4).id, count: 0 })
  })

  test('what was cut off stays missing when the log goes on', async () => {
    const ctx = await aChain(5)
    const rows = await rowsOf(ctx)
    await database.run(sql`delete from audit_rows where id = ${nth(rows, 4).id}`)
    await write(ctx)
    await assertProblem(ctx, { kind: 'missing', id: nth(await rowsOf(ctx), -1).id, count: 4 })
  })

  test('finds a row that something else added, and a log that was written anew', async () => {
    const ctx = await aChain(3)
    const last = nth(await rowsOf(ctx), 2)
    const added = { ...last, id: last.id.replace(/^./, 'f'), prev_hash: last.hash }
    await forge(ctx, { ...added, hash: hashOf(added, added.prev_hash) })
    await assertProblem(ctx, { kind: 'added', id: added.id, count: 4 })

    const other = await aChain(3)
    const rows = await rowsOf(other)
    await database.run(sql`delete from audit_rows where workspace_id = ${other.workspaceId}`)
    let previous: Uint8Array | null = null
    for (const row of rows) {
      const anew: StoredLink = { ...row, actor: 'usr_somebody_else', prev_hash: previous, hash: hashOf({ ...row, actor: 'usr_somebody_else' }, previous) }
      await forge(other, anew)
      previous = anew.hash
    }
    await assertProblem(other, { kind: 'rewritten', id: nth(rows, 2).id, count: 3 })
  })

  test('finds that the anchor is gone, is another workspace’s, or was lost before', async () => {
    const [ctx, other] = [await aChain(3), await aChain(3)]
    await database.run(sql`
      update audit_anchors set sealed = (select sealed from audit_anchors where workspace_id = ${other.workspaceId}) where workspace_id = ${ctx.workspaceId}
    `)
    const last = nth(await rowsOf(ctx), 2)
    await assertProblem(ctx, { kind: 'unanchored', id: last.id, count: 3 })
    await database.run(sql`delete from audit_anchors where workspace_id = ${ctx.workspaceId}`)
    await assertProblem(ctx, { kind: 'unanchored', id: last.id, count: 3 })
    await write(quiet(ctx))
    await write(quiet(ctx))
    await assertProblem(ctx, { kind: 'unanchored', id: nth(await rowsOf(ctx), 3).id, count: 3 })
  })

  test('finds that a hash which was noted before is gone', async () => {
    const { newest, count } = await get('audit/verify')
    await aWebhook(world)
    assert.deepEqual([(await get(`audit/verify?hash=${newest.hash}`)).ok, (await get(`audit/verify?hash=${newest.hash}`)).count], [true, count + 1])
    const { ok, problem } = await get(`audit/verify?hash=${'0'.repeat(64)}`)
    assert.deepEqual([ok, problem.kind, problem.id], [false, 'rewritten', null])
    assert.equal((await world.admin('GET', 'audit/verify?hash=abc')).status, 400)
  })

  test('a log from before there were anchors is anchored where it stands, and no other', async () => {
    const [old, held] = [await aChain(3), await aChain(3)]
    await database.run(sql`delete from audit_anchors where workspace_id = ${old.workspaceId}`)
    await database.run(sql`delete from audit_rows where id = ${nth(await rowsOf(held), 2).id}`)
    await anchorChains(database, old.cipher)
    assert.equal((await verify(old)).ok, true)
    await write(old)
    assert.deepEqual([(await verify(old)).ok, (await verify(old)).count], [true, 4])
    assert.equal((await verify(held)).problem?.kind, 'cut_off')
  })

  test('rows that are written while it reads are read too', async () => {
    const ctx = await aChain(3)
    const many: Db['many'] = async (query) => {
      const rows = await ctx.db.many<never>(query)
      if (rows.length === 3) await write(ctx)
      return rows
    }
    const { ok, count } = await verifyChain({ ...ctx, db: { ...ctx.db, many } })
    assert.deepEqual([ok, count], [true, 4])
  })
})

describe('the chain', () => {
  test('does not fork when two nodes write at once, nor when the clock of one is behind', async () => {
    const node = await aWorld({ beside: world, now: world.clock.now() - 3_600_000 })
    try {
      const here = aPlace()
      const there = aPlace(here.workspaceId, node)
      await Promise.all(Array.from({ length: 20 }, (_, index) => write(index % 2 === 0 ? here : there)))
      const late = '01bfffff-ffff-7fff-bfff-ffffffffff00'
      for (const id of [late, late.replace('01b', '01a'), late.replace('01b', '019'), late]) await write({ ...here, uuid: () => id })
      const { ok, count } = await verify(here)
      assert.deepEqual([ok, count], [true, 24])
    } finally {
      await node.stop()
    }
  })

  test('has nothing of a change that was taken back', async () => {
    const ctx = await aChain(2)
    await assert.rejects(inTransaction(ctx, async (tx) => {
      await audit(tx, { action: 'test_row' })
      throw new Error('no')
    }))
    const { ok, count } = await verify(ctx)
    assert.deepEqual([ok, count], [true, 2])
    const refused = aName('rule')
    await aRule(world, { name: refused })
    const had = (await get('audit/verify')).count
    assert.equal((await world.admin('POST', 'rules', { name: refused, dataset: 'd' })).status, 409)
    assert.equal((await get('audit/verify')).count, had)
  })

  test('two transactions that write to two chains in opposite orders both commit', async () => {
    const [a, b] = [await aChain(1), await aChain(1)]
    const held = Promise.withResolvers<void>()
    const free = Promise.withResolvers<void>()
    const blocker = database.transaction(async (db) => {
      await db.many(sql`select sealed from audit_anchors where workspace_id in (${a.workspaceId}, ${b.workspaceId}) for update`)
      held.resolve()
      await free.promise
    })
    await held.promise
    const inOrder = (chains: readonly Ctx[]): Promise<void> =>
      inTransaction(a, async (tx) => {
        for (const { workspaceId } of chains) await audit({ ...tx, workspaceId }, { action: 'test_row' })
      })
    const both = [inOrder([a, b]), inOrder([b, a])]
    // Both wait for their first lock; a wrong order would leave each with one that the other wants.
    await eventually(async () => {
      const { waiting } = await database.one<{ waiting: number }>(sql`select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      return waiting >= 2 ? true : undefined
    })
    free.resolve()
    await blocker
    await Promise.all(both)
    for (const chain of [a, b]) assert.deepEqual([(await verify(chain)).ok, (await rowsOf(chain)).length], [true, 3])
  })

  test('its end is locked last: a change that has its row waits for nobody’s chain until it commits', async () => {
    const ctx = await aChain(1)
    const said: string[] = []
    await inTransaction(ctx, async (tx) => {
      await audit(tx, { action: 'test_row' })
      await write(ctx, 'meanwhile')
      said.push('the other one committed')
    })
    assert.deepEqual(said, ['the other one committed'])
    assert.deepEqual((await rowsOf(ctx)).map(({ action }) => action), ['test_row', 'meanwhile', 'test_row'])
    assert.equal((await verify(ctx)).ok, true)
  })
})

const atDay = (ctx: Ctx, day: number): Ctx => ({ ...ctx, clock: { ...ctx.clock, now: () => world.clock.now() + day * DAY_MS } })
const prune = (day: number): Promise<void> => pruneAudit(atDay(aPlace(), day))

describe('retention of audit rows', () => {
  test('rows are kept 365 days; then the chain begins at the oldest that is kept, and still verifies', async () => {
    const ctx = aPlace()
    for (const day of [0, 1, 2, 10]) await write(atDay(ctx, day))
    const rows = await rowsOf(ctx)
    await prune(365)
    assert.equal((await rowsOf(ctx)).length, 4)
    await prune(367.5)
    assert.deepEqual((await rowsOf(ctx)).map(({ id }) => id), rows.slice(3).map(({ id }) => id))
    const { ok, count, removed, oldest } = await verify(ctx)
    assert.deepEqual([ok, count, removed, oldest?.id], [true, 1, 3, encodeId('audit', nth(rows, 3).id)])
    await write(atDay(ctx, 11))
    assert.deepEqual([(await verify(ctx)).ok, (await verify(ctx)).count], [true, 2])
    await database.run(sql`delete from audit_rows where id = ${nth(rows, 3).id}`)
    assert.equal((await verify(ctx)).problem?.kind, 'missing')
  })

  test('a chain whose rows are all over goes on where it ended', async () => {
    const ctx = await aChain(3)
    const last = nth(await rowsOf(ctx), 2)
    await prune(400)
    assert.deepEqual([(await verify(ctx)).ok, (await verify(ctx)).removed, (await rowsOf(ctx)).length], [true, 3, 0])
    await write(atDay(ctx, 400))
    assert.equal(hex(nth(await rowsOf(ctx), 0).prev_hash), hex(last.hash))
    assert.equal((await verify(ctx)).ok, true)
  })

  test('a workspace is kept as long as its plan says, also beyond what is removed at once', async () => {
    const workspaceId = decodeId('workspace', world.installed.workspace.id) ?? ''
    const { count } = await get('audit/verify')
    await prune(10_000)
    assert.equal((await get('audit/verify')).count, count)
    await database.run(sql`update workspaces set plan = 'business' where id = ${workspaceId}`)
    for (let times = 0; times < 5; times += 1) await writeMany(aPlace(workspaceId), 220)
    await prune(1_094)
    assert.equal((await get('audit/verify')).removed, 0)
    await prune(1_097)
    const { ok, removed } = await get('audit/verify')
    assert.deepEqual([ok, removed], [true, count + 1_100])
    await database.run(sql`update workspaces set plan = 'self_hosted' where id = ${workspaceId}`)
  })

  test('a chain whose anchor is lost loses no row', async () => {
    const ctx = await aChain(2)
    await database.run(sql`delete from audit_anchors where workspace_id = ${ctx.workspaceId}`)
    await prune(1_000)
    assert.equal((await rowsOf(ctx)).length, 2)
  })

  test('a begin that moves while a chain is read is no fault', async () => {
    const ctx = aPlace()
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

test('the doctor is told of every chain that has a problem, with the workspace and the row', async () => {
  const doctored = await aWorld()
  const own = behind(doctored)
  try {
    const { deps } = doctored.app
    assert.deepEqual(await findBrokenChains({ ...deps, db: own }), [])
    await own.run(sql`update audit_rows set action = 'nothing' where action = 'create_workspace'`)
    const [found, ...others] = await findBrokenChains({ ...deps, db: own })
    assert.deepEqual([found?.workspace, others.length], [doctored.installed.workspace.id, 0])
    assert.match(found?.text ?? '', /^aud_\w+: This row is not what was written/)
  } finally {
    await own.close()
    await doctored.stop()
  }
})

test('an anchor opens in its own place only', () => {
  const { cipher } = world.app.deps
  const sealed = cipher.seal('{}', secretPlace('audit_anchors.sealed', 'a'))
  assert.throws(() => cipher.open(sealed, secretPlace('audit_anchors.sealed', 'b')))
})
