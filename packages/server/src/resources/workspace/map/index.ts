/** The map of a project: its settings as a picture, with the counts of the rollups on the lines (docs/adr/0400). */
import { LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { listHolds } from '../../delivery/delivery-holds/index.ts'
import type { Room } from '../../verbs.ts'
import { findFirstCounted, findFlowsSince, rangeAt, sumFlows, sumOutcomes } from '../rollups/index.ts'
import { draw } from './draw.ts'
import { listParts } from './queries.ts'
import { readEnds } from './steps.ts'

const DAY_MS = 86_400_000
const { mapRangeDaysMax } = LIMITS

export const map: Room<'map'> = {
  get: async (ctx, asked) => {
    const { db, workspaceId, projectId } = ctx
    const range = await rangeAt(db, askedRange(ctx, asked))
    const at = { workspaceId, projectId, pieces: range.pieces }
    const [rows, ends, flows, outcomes, held, first, since] = await Promise.all([
      listParts(db, at),
      readEnds(ctx),
      sumFlows(db, at),
      sumOutcomes(db, at),
      listHolds(db, { workspaceId, projectIds: [projectId], now: ctx.clock.now() }),
      findFirstCounted(db, at),
      findFlowsSince(db),
    ])
    const parts = rows.map((row) => (row.kind === 'workflow' ? { ...row, ...ends.get(row.id) } : row))
    const holds = new Map(
      held.map(({ destinationId, hold: { behind: _behind, ...hold }, count, more }) => [
        destinationId,
        { ...hold, deliveries: count, more },
      ]),
    )
    return {
      map: {
        from: new Date(range.from).toISOString(),
        to: new Date(range.to).toISOString(),
        counted_at: range.countedAt === null ? null : new Date(range.countedAt).toISOString(),
        lines_since: since?.toISOString() ?? null,
        first_at: first?.toISOString() ?? null,
        ...draw(parts, { flows, outcomes, holds }, asked.limit),
      },
    }
  },
}

type Range = { readonly from: number; readonly to: number; readonly now: number }

function askedRange({ clock }: Ctx, asked: RouteInput<Routes['map']['get']>): Range {
  const now = clock.now()
  const to = Math.min(asked.to?.getTime() ?? now, now)
  const from = asked.from?.getTime() ?? to - DAY_MS
  if (from >= to) throw refuse('invalid_request', 'query: `from` must be before `to`, and not in the future.')
  if (to - from > mapRangeDaysMax * DAY_MS)
    throw refuse('invalid_request', `query: the range is longer than ${mapRangeDaysMax} days; send a shorter one.`)
  return { from, to, now }
}
