import assert from 'node:assert/strict'
import type { Ctx } from '../../src/context.ts'
import type { StoredLink } from '../../src/domain/workspace/audit-chain.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { audit } from '../../src/resources/workspace/audit/index.ts'
import { inTransaction } from '../../src/transaction.ts'
import type { World } from './harness.ts'

/** Audit chains in separate workspaces, to which nothing else writes. */

/** The context of a verb in a new workspace. */
export function aPlace(world: World, workspaceId = world.app.deps.uuid()): Ctx {
  const { deps } = world.app
  return {
    ...deps,
    workspaceId,
    projectId: workspaceId,
    db: deps.database,
    actor: { kind: 'system', role: 'owner' },
    requestId: 'test',
    ip: undefined,
  }
}

export const write = (ctx: Ctx, action = 'test_row'): Promise<void> =>
  inTransaction(ctx, (tx) => audit(tx, { action, target: 'whk_x', details: { n: 1 } }))

/** A context without a log for errors, because the test expects them. */
export const quiet = (ctx: Ctx): Ctx => ({ ...ctx, log: { ...ctx.log, error: () => undefined } })

export async function aChain(world: World, rows: number): Promise<Ctx> {
  const ctx = aPlace(world)
  for (let begun = 0; begun < rows; begun += ROWS_AT_ONCE) await writeMany(ctx, Math.min(ROWS_AT_ONCE, rows - begun))
  return ctx
}

const ROWS_AT_ONCE = 200
export const writeMany = (ctx: Ctx, rows: number): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    for (let count = 0; count < rows; count += 1) await audit(tx, { action: 'test_row', details: { count } })
  })

/** The rows of a chain, oldest first, as they are stored. */
export const rowsOf = (database: Database, { workspaceId }: Ctx): Promise<readonly StoredLink[]> =>
  database.many<StoredLink>(
    sql`select id, at, actor, agent, action, target, ip, details, prev_hash, hash from audit_rows where workspace_id = ${workspaceId} order by id`,
  )

export const nth = (rows: readonly StoredLink[], index: number): StoredLink =>
  rows.at(index) ?? assert.fail(`no row ${index}`)
