import { encodeId, FORWARDER_PRESETS, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { positionAt } from '../../../domain/serving/forwarding/position.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockProject } from '../../workspace/projects/index.ts'
import { beginGeneration, readMoment } from '../stream/index.ts'
import { presentForwarders, settingsOf } from './present.ts'
import {
  countForwarders,
  deleteForwarder,
  findForwarder,
  insertCursors,
  insertForwarder,
  listForwarders,
  restartCursors,
  updateForwarder,
  type ForwarderRow,
} from './queries.ts'
import { changedTarget, checkAudit, openForwarderHeaders, sealHeaders, type Target } from './settings.ts'

export { openForwarderHeaders } from './settings.ts'

export const forwarders: Room<'forwarders'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listForwarders(db, { ...ctx, before, limit: most }),
    })
    return { forwarders: await presentForwarders(ctx, rows), next_cursor }
  },

  presets: () => Promise.resolve({ forwarder_presets: [...FORWARDER_PRESETS] }),

  create: async (ctx, input) => {
    checkAudit(ctx, input.content)
    await checkPlainHttp(ctx, input.endpoint)
    const target = changedTarget(ctx, { sent: input, held: undefined })
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countForwarders(tx.db, tx)) >= LIMITS.forwardersPerProjectMax) throw refuse('forwarder_limit_reached')
      const [id, now] = [tx.uuid(), new Date(tx.clock.now())]
      const row = await insertForwarder(tx.db, { ...tx, ...input, ...stored(tx, { id, target }), id, now })
      if (row === undefined) throw refuse('name_taken')
      await beginCursors(tx, row)
      await audit(tx, {
        action: 'create_forwarder',
        target: encodeId('forwarder', id),
        details: { name: row.name, preset: row.preset, endpoint: row.endpoint, content: row.content },
        change: { before: null, after: settingsOf(row) },
      })
      return { forwarder: await presented(tx, row) }
    })
  },

  test: async (ctx, { forwarder_id: id, ...sent }) => {
    const held = id === undefined ? undefined : await found(ctx, { id })
    if (sent.endpoint !== undefined) await checkPlainHttp(ctx, sent.endpoint)
    const target = changedTarget(ctx, { sent, held: held === undefined ? undefined : targetOf(ctx, held) })
    const results = await ctx.testForwarder({
      ...target,
      workspaceId: ctx.workspaceId,
      projectId: ctx.projectId,
      gzip: sent.gzip ?? held?.gzip ?? true,
      signals: sent.signals ?? held?.signals ?? ['logs', 'traces'],
    })
    const ok = results.every((result) => result.ok)
    await inTransaction(ctx, (tx) =>
      audit(tx, {
        action: 'test_forwarder',
        target: id === undefined ? encodeId('project', tx.projectId) : encodeId('forwarder', id),
        details: { endpoint: target.endpoint, ok },
      }),
    )
    return { ok, results: [...results] }
  },

  get: async (ctx, { id }) => ({ forwarder: await presented(ctx, await found(ctx, { id })) }),

  update: async (ctx, input) => {
    if (input.endpoint !== undefined) await checkPlainHttp(ctx, input.endpoint)
    return inTransaction(ctx, async (tx) => {
      const held = await found(tx, { id: input.id, lock: true })
      checkAudit(tx, [...held.content, ...(input.content ?? [])])
      const { id, ...change } = input
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const row = await changeForwarder(tx, { held, input, given })
      await audit(tx, {
        action: 'update_forwarder',
        target: encodeId('forwarder', id),
        details: { changed: Object.keys(given), ...('endpoint' in given ? { endpoint: row.endpoint } : {}) },
        change: { before: settingsOf(held), after: settingsOf(row) },
      })
      return { forwarder: await presented(tx, row) }
    })
  },

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await found(tx, { id, lock: true })
      await deleteForwarder(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_forwarder',
        target: encodeId('forwarder', id),
        change: { before: settingsOf(held), after: null },
      })
      return { ok: true }
    }),
}

type Changing = { held: ForwarderRow; input: RouteInput<Routes['forwarders']['update']>; given: object }

async function changeForwarder(tx: Ctx, { held, input, given }: Changing): Promise<ForwarderRow> {
  const target = changedTarget(tx, { sent: input, held: targetOf(tx, held) })
  const now = new Date(tx.clock.now())
  const row = await updateForwarder(tx.db, {
    ...tx,
    ...held,
    ...given,
    ...stored(tx, { id: held.id, target }),
    now,
  })
  if (row === undefined) throw refuse('name_taken')
  const unproven = input.endpoint !== undefined || input.headers !== undefined || input.encoding !== undefined
  await restartCursors(tx.db, { ...tx, id: row.id, signals: row.signals, unproven, now })
  await beginCursors(tx, row)
  return row
}

/** Signals without a position start at the present time. */
async function beginCursors(tx: Ctx, { id, signals }: ForwarderRow): Promise<void> {
  await beginGeneration(tx.db)
  const now = tx.clock.now()
  const position = positionAt(await readMoment(tx.db), now)
  await insertCursors(tx.db, { ...tx, id, signals, position, now: new Date(now) })
}

async function presented(ctx: Ctx, row: ForwarderRow) {
  const [shown] = await presentForwarders(ctx, [row])
  if (shown === undefined) throw new Error('One row gives one forwarder.')
  return shown
}

async function found(ctx: Ctx, { id, lock = false }: { id: string; lock?: boolean }): Promise<ForwarderRow> {
  const row = await findForwarder(ctx.db, { ...ctx, id, lock })
  if (row === undefined) throw refuse('not_found')
  return row
}

const targetOf = (ctx: Ctx, { preset, endpoint, encoding, ...row }: ForwarderRow): Target => ({
  preset,
  endpoint,
  encoding,
  headers: openForwarderHeaders(ctx, row),
})

const stored = (tx: Ctx, { id, target: { headers, ...target } }: { id: string; target: Target }) => ({
  ...target,
  header_names: Object.keys(headers),
  headers: sealHeaders(tx, { id, headers }),
})

/** It may resolve a name, so it runs outside of the transaction. */
async function checkPlainHttp(ctx: Ctx, endpoint: string): Promise<void> {
  const why = await ctx.validatePlainHttp(endpoint)
  if (why !== undefined) throw refuse('invalid_request', `endpoint: ${why}`)
}
