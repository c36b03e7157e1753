import { encodeId, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { scan, type DeliveryRow } from '../deliveries/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { allowanceExhausted, findAllowance } from '../../workspace/usage/index.ts'
import type { Room } from '../../verbs.ts'
import { auditDetails, beginReplay, planOf } from './begin.ts'
import { afterOf, wantedBy } from './filter.ts'
import { presentReplay } from './present.ts'
import { findReplay, listReplays, moveReplay, type ReplayState, type StoredFilter } from './queries.ts'

export { advanceReplays } from './advance.ts'
export { auditDetails, beginReplay, planOf } from './begin.ts'
export { countWaiting, type StoredFilter } from './queries.ts'
export { listCovered }

/** The newest deliveries that a replay matches, in any state now. It looks at a bounded number. */
async function listCovered(
  ctx: Ctx,
  { id, limit, scannedMax }: { id: string; limit: number; scannedMax: number },
): Promise<readonly DeliveryRow[]> {
  const row = await findReplay(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const wanted = { ...wantedBy(row.filter), states: null }
  const between = { after: afterOf(row.filter), before: id }
  return (await scan(ctx, { wanted, newestFirst: true, ...between, limit, scannedMax })).rows
}

export const replays: Room<'replays'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listReplays(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { replays: rows.map(presentReplay), next_cursor }
  },

  create: async (ctx, { filter, rate_per_second: ratePerSecond, dry_run }) => {
    const asked = { filter: storedFilter(filter), ratePerSecond }
    const plan = await planOf(ctx, asked)
    if (dry_run) return { plan, replay: null }
    return inTransaction(ctx, async (tx) => {
      const replay = await beginReplay(tx, { ...asked, plan, kind: 'replay' })
      if (replay !== null)
        await audit(tx, {
          action: 'create_replay',
          target: replay.id,
          details: auditDetails({ ...asked, plan }),
          change: { before: null, after: { state: replay.state, rate_per_second: ratePerSecond } },
        })
      return { plan, replay }
    })
  },

  get: async (ctx, { id }) => {
    const row = await findReplay(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { replay: presentReplay(row) }
  },

  pause: (ctx, { id }) => moved(ctx, { id, from: ['running'], to: 'paused', action: 'pause_replay' }),
  resume: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const resumed = await moved(tx, { id, from: ['paused'], to: 'running', action: 'resume_replay' })
      if ((await findAllowance(tx))?.left === 0) throw allowanceExhausted(tx)
      return resumed
    }),
  cancel: (ctx, { id }) => moved(ctx, { id, from: ['running', 'paused'], to: 'cancelled', action: 'cancel_replay' }),
}

/** The filter as it is stored: times are text. */
function storedFilter({ from, to, ...rest }: RouteInput<Routes['replays']['create']>['filter']): StoredFilter {
  return {
    ...rest,
    ...(from === undefined ? {} : { from: from.toISOString() }),
    ...(to === undefined ? {} : { to: to.toISOString() }),
  }
}

type Move = {
  readonly id: string
  readonly from: readonly ReplayState[]
  readonly to: ReplayState
  readonly action: string
}

function moved(ctx: Ctx, { id, from, to, action }: Move) {
  return inTransaction(ctx, async (tx) => {
    const held = await findReplay(tx.db, { ...tx, id })
    if (held === undefined) throw refuse('not_found')
    const row = await moveReplay(tx.db, { ...tx, id, from, to, now: new Date(tx.clock.now()) })
    if (row === undefined)
      throw refuse('invalid_state', REFUSALS[(await findReplay(tx.db, { ...tx, id }))?.state ?? held.state])
    await audit(tx, {
      action,
      target: encodeId('replay', id),
      change: { before: { state: held.state }, after: { state: row.state } },
    })
    return { replay: presentReplay(row) }
  })
}

const REFUSALS: Readonly<Record<ReplayState, string>> = {
  running: 'This replay is already running.',
  paused: 'This replay is paused. Resume or cancel it.',
  done: 'This replay has ended. To send the same deliveries again, start a new replay.',
  cancelled: 'This replay was canceled. To continue, start a new replay.',
}
