import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../src/context.ts'
import { hashOf, type StoredLink } from '../../src/domain/workspace/audit-chain.ts'
import { secretPlace } from '../../src/resources/secret-place.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { anchorChains, findBrokenChains } from '../../src/resources/workspace/audit/index.ts'
import { verifyAndRecord, verifyChain, verifyPart } from '../../src/resources/workspace/audit/verify.ts'
import { sealCursor, type Place } from '../../src/resources/workspace/audit/verify-cursor.ts'
import { aChain, aPlace, nth, quiet, rowsOf, write } from '../stage/audit-chains.ts'
import { aWebhook, behind } from '../stage/fixtures.ts'
import { atGate, tableGate } from '../stage/gates.ts'
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

/** Inserts a row, with the hash that a person who knows the algorithm would write. */
async function forge(ctx: Ctx, row: StoredLink): Promise<void> {
  await database.run(sql`
    insert into audit_rows (workspace_id, id, at, actor, agent, action, target, ip, details, prev_hash, hash)
    values (${ctx.workspaceId}, ${row.id}, ${row.at}, ${row.actor}, ${row.agent}, ${row.action}, ${row.target}, ${row.ip}, ${row.details}, ${row.prev_hash}, ${row.hash})
  `)
}

async function assertProblem(ctx: Ctx, expected: { kind: string; id: string; count: number }): Promise<void> {
  const { ok, count, problem } = await verifyChain(ctx)
  assert.deepEqual(
    { ok, kind: problem?.kind, id: problem?.id, count },
    { ok: false, kind: expected.kind, id: encodeId('audit', expected.id), count: expected.count },
  )
  assert.match(problem?.text ?? '', /^[A-Z].*\.$/)
}

describe('GET /admin/api/audit/verify', () => {
  test('the answer reports that the chain is intact, its length, and the hash of the newest row', async () => {
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
      next_cursor: null,
    })
  })

  test('one request reads a bounded part of a long log, and the next ones continue until the end', async () => {
    const ctx = await aChain(world, 25)
    const parts: unknown[] = []
    let from: Place | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- part after part
      const { verification, next } = await verifyPart(ctx, { from, rowsMax: 10 })
      parts.push([verification.ok, verification.count, verification.problem])
      from = next
    } while (from !== undefined)
    assert.deepEqual(parts, [
      [false, 10, null],
      [false, 20, null],
      [true, 25, null],
    ])
    const { next } = await verifyPart(ctx, { from: undefined, rowsMax: 10 })
    const ids = (await rowsOf(database, ctx)).map(({ id }) => id)
    await database.run(sql`delete from audit_rows where workspace_id = ${ctx.workspaceId} and id = ${ids[10] ?? ''}`)
    const { verification } = await verifyPart(ctx, { from: next, rowsMax: 10 })
    assert.deepEqual([verification.ok, verification.problem?.kind, verification.count], [false, 'missing', 10])
  })

  test('a cursor of a verification continues only the log for which it was made', async () => {
    const [one, other] = [await aChain(world, 3), await aChain(world, 3)]
    const { next } = await verifyPart(one, { from: undefined, rowsMax: 2 })
    const cursor = await sealCursor(one, next ?? assert.fail('more rows follow'))
    assert.deepEqual([(await verifyAndRecord(one, { hash: undefined, cursor })).count], [3])
    await assert.rejects(verifyAndRecord(other, { hash: undefined, cursor }), { reason: 'invalid_request' })
    const { status, body } = await world.admin('GET', `audit/verify?cursor=${cursor.slice(0, -2)}`)
    assert.deepEqual([status, body.reason], [400, 'invalid_request'])
  })

  test('many verifications at the same time leave the database to other requests, and get 503 overloaded beyond four of a workspace', async () => {
    const asked: ReturnType<typeof world.admin>[] = []
    const refusals: { reason: string; error: string }[] = []
    const looks = new Set<() => void>()
    // A few at a time: a statement for which no connection is free waits behind one that waits for the lock.
    const ask = (count: number): void => {
      for (const one of Array.from({ length: count }, () => world.admin('GET', 'audit/verify'))) {
        asked.push(one)
        void one.then(({ status, body }) => {
          if (status === 503) refusals.push(body)
          for (const look of looks) look()
        })
      }
    }
    const refused = (count: number): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => void (refusals.length >= count && resolve())
        looks.add(look)
        look()
      })
    await atGate(database, tableGate('audit_rows'), async (gate) => {
      ask(2)
      await gate.waiting(2)
      ask(5)
      await refused(3)
      ask(5)
      await refused(8)
      assert.equal((await world.admin('GET', 'projects')).status, 200)
    })
    // A statement that waits too long for the lock is refused with this reason too, but with another sentence.
    assert.deepEqual(
      new Set(refusals.map(({ reason, error }) => `${reason}: ${error}`)),
      new Set(['overloaded: Too many audit logs are being verified. Try again in a moment.']),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    assert.deepEqual(
      [200, 503].map((wanted) => statuses.filter((status) => status === wanted).length),
      [4, 8],
    )
    assert.equal((await world.admin('GET', 'audit/verify')).status, 200)
  })

  test('the verification reads chains that are longer than a page, and empty ones', async () => {
    const { ok, count } = await verifyChain(await aChain(world, 1_345))
    assert.deepEqual([ok, count], [true, 1_345])
    assert.deepEqual(await verifyChain(aPlace(world)), {
      ok: true,
      count: 0,
      removed: 0,
      oldest: null,
      newest: null,
      problem: null,
    })
  })

  test('the verification finds the changed row, whatever was changed in it', async () => {
    for (const change of [
      "actor = 'usr_x'",
      "action = 'nothing'",
      "target = 'whk_y'",
      "ip = '10.0.0.1'",
      "agent = 'x'",
      "details = '{}'",
      "at = at - interval '1 day'",
      "hash = '\\x00'",
      "prev_hash = '\\x00'",
    ]) {
      const ctx = await aChain(world, 5)
      const row = nth(await rowsOf(database, ctx), 2)
      await database.run({ strings: [`update audit_rows set ${change} where id = '${row.id}'`], values: [] })
      await assertProblem(ctx, { kind: 'changed', id: row.id, count: 2 })
    }
  })

  test('the verification finds where a row is missing, also at the start, and also when a forged row replaces it', async () => {
    for (const index of [0, 2]) {
      const ctx = await aChain(world, 5)
      const rows = await rowsOf(database, ctx)
      await database.run(sql`delete from audit_rows where id = ${nth(rows, index).id}`)
      await assertProblem(ctx, { kind: 'missing', id: nth(rows, index + 1).id, count: index })
    }
    const ctx = await aChain(world, 5)
    const rows = await rowsOf(database, ctx)
    const forged = { ...nth(rows, 2), details: '{"harmless":true}' }
    await database.run(sql`delete from audit_rows where id = ${forged.id}`)
    await forge(ctx, { ...forged, hash: hashOf(forged, forged.prev_hash) })
    await assertProblem(ctx, { kind: 'missing', id: nth(rows, 3).id, count: 3 })
  })

  test('the verification finds where rows were moved', async () => {
    const ctx = await aChain(world, 5)
    const rows = await rowsOf(database, ctx)
    await database.run(
      sql`update audit_rows set id = ${nth(rows, 4).id.replace(/.$/, (digit) => (digit === 'f' ? 'e' : 'f'))} where id = ${nth(rows, 1).id}`,
    )
    await assertProblem(ctx, { kind: 'reordered', id: nth(rows, 2).id, count: 1 })
  })

  test('the verification finds that the newest rows were cut off, and that all rows were', async () => {
    const ctx = await aChain(world, 5)
    const rows = await rowsOf(database, ctx)
    await database.run(sql`delete from audit_rows where workspace_id = ${ctx.workspaceId} and id >= ${nth(rows, 3).id}`)
    await assertProblem(ctx, { kind: 'cut_off', id: nth(rows, 4).id, count: 3 })
    assert.match((await verifyChain(ctx)).problem?.text ?? '', / 2 of them\./)
    await database.run(sql`delete from audit_rows where workspace_id = ${ctx.workspaceId}`)
    await assertProblem(ctx, { kind: 'cut_off', id: nth(rows, 4).id, count: 0 })
  })

  test('rows that were cut off stay missing when the log continues', async () => {
    const ctx = await aChain(world, 5)
    const rows = await rowsOf(database, ctx)
    await database.run(sql`delete from audit_rows where id = ${nth(rows, 4).id}`)
    await write(ctx)
    await assertProblem(ctx, { kind: 'missing', id: nth(await rowsOf(database, ctx), -1).id, count: 4 })
  })

  test('the verification finds a row that another program added, and a log that was rewritten', async () => {
    const ctx = await aChain(world, 3)
    const last = nth(await rowsOf(database, ctx), 2)
    const added = { ...last, id: last.id.replace(/^./, 'f'), prev_hash: last.hash }
    await forge(ctx, { ...added, hash: hashOf(added, added.prev_hash) })
    await assertProblem(ctx, { kind: 'added', id: added.id, count: 4 })

    const other = await aChain(world, 3)
    const rows = await rowsOf(database, other)
    await database.run(sql`delete from audit_rows where workspace_id = ${other.workspaceId}`)
    let previous: Uint8Array | null = null
    for (const row of rows) {
      const rewritten: StoredLink = {
        ...row,
        actor: 'usr_somebody_else',
        prev_hash: previous,
        hash: hashOf({ ...row, actor: 'usr_somebody_else' }, previous),
      }
      await forge(other, rewritten)
      previous = rewritten.hash
    }
    await assertProblem(other, { kind: 'rewritten', id: nth(rows, 2).id, count: 3 })
  })

  test('the verification finds that the anchor is missing, belongs to another workspace, or was lost earlier', async () => {
    const [ctx, other] = [await aChain(world, 3), await aChain(world, 3)]
    await database.run(sql`
      update audit_anchors set sealed = (select sealed from audit_anchors where workspace_id = ${other.workspaceId}) where workspace_id = ${ctx.workspaceId}
    `)
    const last = nth(await rowsOf(database, ctx), 2)
    await assertProblem(ctx, { kind: 'unanchored', id: last.id, count: 3 })
    await database.run(sql`delete from audit_anchors where workspace_id = ${ctx.workspaceId}`)
    await assertProblem(ctx, { kind: 'unanchored', id: last.id, count: 3 })
    await write(quiet(ctx))
    await write(quiet(ctx))
    await assertProblem(ctx, { kind: 'unanchored', id: nth(await rowsOf(database, ctx), 3).id, count: 3 })
  })

  test('the verification finds that a hash which was recorded earlier is gone', async () => {
    const { newest, count } = await get('audit/verify')
    await aWebhook(world)
    assert.deepEqual(
      [(await get(`audit/verify?hash=${newest.hash}`)).ok, (await get(`audit/verify?hash=${newest.hash}`)).count],
      [true, count + 1],
    )
    const { ok, problem } = await get(`audit/verify?hash=${'0'.repeat(64)}`)
    assert.deepEqual([ok, problem.kind, problem.id], [false, 'rewritten', null])
    assert.equal((await world.admin('GET', 'audit/verify?hash=abc')).status, 400)
  })

  test('a log from before anchors existed is anchored at its current end, and no other log is', async () => {
    const [old, held] = [await aChain(world, 3), await aChain(world, 3)]
    await database.run(sql`delete from audit_anchors where workspace_id = ${old.workspaceId}`)
    await database.run(sql`delete from audit_rows where id = ${nth(await rowsOf(database, held), 2).id}`)
    await anchorChains(database, old.cipher)
    assert.equal((await verifyChain(old)).ok, true)
    await write(old)
    assert.deepEqual([(await verifyChain(old)).ok, (await verifyChain(old)).count], [true, 4])
    assert.equal((await verifyChain(held)).problem?.kind, 'cut_off')
  })

  test('rows that are written during the verification are read too', async () => {
    const ctx = await aChain(world, 3)
    const many: Db['many'] = async (query) => {
      const rows = await ctx.db.many<never>(query)
      if (rows.length === 3) await write(ctx)
      return rows
    }
    const { ok, count } = await verifyChain({ ...ctx, db: { ...ctx.db, many } })
    assert.deepEqual([ok, count], [true, 4])
  })
})

test('the doctor reports every chain that has a problem, with the workspace and the row', async () => {
  const doctored = await aWorld({ loops: [] })
  const own = behind(doctored)
  try {
    const { deps } = doctored.app
    assert.deepEqual(await findBrokenChains({ ...deps, db: own }), [])
    await own.run(sql`update audit_rows set action = 'nothing' where action = 'create_workspace'`)
    const [found, ...others] = await findBrokenChains({ ...deps, db: own })
    assert.deepEqual([found?.workspace, others.length], [doctored.installed.workspace.id, 0])
    assert.match(found?.text ?? '', /^aud_\w+: This row is not as Postroad wrote it/)
  } finally {
    await own.close()
    await doctored.stop()
  }
})

test('an anchor can be decrypted only in its own place', () => {
  const { cipher } = world.app.deps
  const sealed = cipher.seal('{}', secretPlace('audit_anchors.sealed', 'a'))
  assert.throws(() => cipher.open(sealed, secretPlace('audit_anchors.sealed', 'b')))
})
