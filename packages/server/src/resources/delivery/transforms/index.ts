import { encodeId, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { checkProgram } from '../../../tasks/run-program.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { keepDeleted, putBack, type Snapshot } from '../../workspace/snapshots/index.ts'
import {
  countTransforms,
  deleteOldVersions,
  deleteTransform,
  findTransform,
  findVersion,
  insertTransform,
  insertVersion,
  listTransforms,
  listVersions,
  lockTransform,
  newestVersion,
  updateTransform,
  type TransformRow,
} from './queries.ts'
import { testTransform } from './try-out.ts'

export { listTransformNames, listWholeTransforms, lockTransform } from './queries.ts'
export { requestOfTransform } from './run.ts'

function present({ used_by: users, code, ...row }: TransformRow) {
  return {
    ...row,
    id: encodeId('transform', row.id),
    used_by: users.map(({ id, name }) => ({ kind: 'destination' as const, id: encodeId('destination', id), name })),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    code,
  }
}

function withoutCode(row: TransformRow) {
  const { code: _code, ...shown } = present(row)
  return shown
}

async function getTransform(ctx: Ctx, id: string): Promise<TransformRow> {
  const row = await findTransform(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

/** Refuses code that could never run. It runs the code outside of its functions, in the sandbox. */
export async function checkCode(
  ctx: Ctx,
  source: { readonly code: string; readonly language: 'js' | 'ts' },
): Promise<void> {
  const fault = await ctx.heavy.run(checkProgram, { workspaceId: ctx.workspaceId, input: source, work: Infinity })
  if (fault === null) return
  const place = fault.at === null ? '' : ` (line ${fault.at.line}, column ${fault.at.column})`
  throw refuse('invalid_request', `code: ${fault.message}${place}`)
}

type Changed = RouteInput<Routes['transforms']['update']>

/** The version that is current after a change. New code makes one. */
async function versionAfter(tx: Ctx, held: TransformRow, { code, language, version }: Changed): Promise<number> {
  if (code === undefined) {
    if (version === undefined) return held.version
    if ((await findVersion(tx.db, { ...tx, id: held.id, version })) === undefined)
      throw refuse('invalid_request', `version: this transform has no version ${version}. List its versions.`)
    return version
  }
  const next = (await newestVersion(tx.db, { ...tx, id: held.id })) + 1
  const row = { version: next, code, language: language ?? held.language, created_at: new Date(tx.clock.now()) }
  await insertVersion(tx.db, { ...tx, id: held.id, ...row })
  return next
}

/** The senders of these destinations read the new version. */
function announce(tx: Ctx & Required<Pick<Ctx, 'afterCommit'>>, { used_by: users }: TransformRow): void {
  const lanes = users.map(({ id }) => ({ workspaceId: tx.workspaceId, destinationId: id }))
  if (lanes.length > 0) tx.afterCommit(() => tx.lanesChanged({ lanes, disabled: false }))
}

async function checkCount(tx: Ctx): Promise<void> {
  if ((await countTransforms(tx.db, tx)) >= LIMITS.transformsPerProjectMax) throw refuse('transform_limit_reached')
}

const update: Room<'transforms'>['update'] = async (ctx, input) => {
  const { id, code, language, version } = input
  const before = await getTransform(ctx, id)
  if (code !== undefined && version !== undefined)
    throw refuse('invalid_request', 'code and version exclude each other: send new code, or an older version.')
  if (code === undefined && language !== undefined && language !== before.language)
    throw refuse('invalid_request', 'language: send the code in this language too.')
  if (code !== undefined) await checkCode(ctx, { code, language: language ?? before.language })
  return changeTransform(ctx, input)
}

/** Stores a change whose code was checked, alone or as a part of a larger transaction. */
export function changeTransform(ctx: Ctx, input: Changed): ReturnType<Room<'transforms'>['update']> {
  const { id } = input
  return inTransaction(ctx, async (tx) => {
    await configChanged(tx)
    if (!(await lockTransform(tx.db, { ...tx, id, against: 'changes' }))) throw refuse('not_found')
    const held = await getTransform(tx, id)
    const current = await versionAfter(tx, held, input)
    const to = { id, name: input.name ?? held.name, version: current, now: new Date(tx.clock.now()) }
    if (!(await updateTransform(tx.db, { ...tx, ...to }))) throw refuse('name_taken')
    await deleteOldVersions(tx.db, { ...tx, id, retained: LIMITS.transformVersionsMax })
    const row = await getTransform(tx, id)
    await audit(tx, {
      action: 'update_transform',
      target: encodeId('transform', id),
      details: { name: row.name, version: row.version },
      change: { before: present(held), after: present(row) },
    })
    if (row.version !== held.version) announce(tx, row)
    return { transform: present(row) }
  })
}

type Created = RouteInput<Routes['transforms']['create']>

/** Stores a transform whose code was checked, alone or as a part of a larger transaction. */
export function insertNewTransform(
  ctx: Ctx,
  { name, code, language }: Created,
): ReturnType<Room<'transforms'>['create']> {
  return inTransaction(ctx, async (tx) => {
    // It also locks the project, so the count below is exact.
    await configChanged(tx)
    await checkCount(tx)
    const [id, now] = [tx.uuid(), new Date(tx.clock.now())]
    if (!(await insertTransform(tx.db, { ...tx, id, name, now }))) throw refuse('name_taken')
    await insertVersion(tx.db, { ...tx, id, version: 1, code, language, created_at: now })
    const row = await getTransform(tx, id)
    await audit(tx, {
      action: 'create_transform',
      target: encodeId('transform', id),
      details: { name },
      change: { before: null, after: present(row) },
    })
    return { transform: present(row) }
  })
}

export const transforms: Room<'transforms'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listTransforms(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { transforms: rows.map(withoutCode), next_cursor }
  },

  create: async (ctx, input) => {
    await checkCode(ctx, input)
    return insertNewTransform(ctx, input)
  },

  get: async (ctx, { id }) => ({ transform: present(await getTransform(ctx, id)) }),

  update,

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      await configChanged(tx)
      if (!(await lockTransform(tx.db, { ...tx, id, against: 'changes' }))) throw refuse('not_found')
      const held = await getTransform(tx, id)
      if (held.used_by.length > 0) throw refuse('transform_in_use')
      const deletion = await keepDeleted(tx, { kind: 'transform', id, name: held.name })
      await deleteTransform(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_transform',
        target: encodeId('transform', id),
        details: { name: held.name, deletion_id: deletion.id },
        change: { before: present(held), after: null },
      })
      return { ok: true, deletion }
    }),

  listVersions: async (ctx, { id, limit, cursor }) => {
    await getTransform(ctx, id)
    const rows = await listVersions(ctx.db, { ...ctx, id, before: afterVersion(cursor), limit: limit + 1 })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      versions: page.map(({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() })),
      next_cursor: rows.length > limit && last !== undefined ? String(last.version) : null,
    }
  },

  getVersion: async (ctx, at) => {
    const row = await findVersion(ctx.db, { ...ctx, ...at })
    if (row === undefined) throw refuse('not_found')
    return { version: { ...row, created_at: row.created_at.toISOString() } }
  },

  test: testTransform,
}

/** Versions are numbered, so the cursor is the last number of the previous page. */
function afterVersion(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(cursor))
    throw refuse('invalid_request', 'The cursor is not valid; send next_cursor of the previous page unchanged.')
  return Number(cursor)
}

/** Puts a deleted transform back with its versions. */
export async function putBackTransform(tx: Ctx, snapshot: Snapshot & { readonly id: string }) {
  await configChanged(tx)
  await checkCount(tx)
  const row = (await putBack(tx, snapshot)) ? await findTransform(tx.db, { ...tx, id: snapshot.id }) : undefined
  if (row === undefined)
    throw refuse('name_taken', 'Another transform now has this name. Rename that transform, then restore this one.')
  return present(row)
}
