import type { Ctx } from '../../../context.ts'
import { PLAN_KINDS, type PlanKind, type PlanParts } from '../../../domain/routing/decision/decision-plan.ts'
import type { Db } from '../../../platform/db.ts'
import { uuidOf } from '../../../platform/ids.ts'
import { insertPlanRows, listPlanRows, usePlanRows } from './queries.ts'

export { listPlanRowsAfter } from './queries.ts'

/** How long a server decides by a plan before it stores the use of the plan again. */
export const PLAN_USED_MS = 3_600_000
/** A row that was used this recently is not updated again, so that many servers do not write the same. */
const RECENT_MS = PLAN_USED_MS / 2
/** An event came at most this long after the last stored use of its plan. It includes the time to read and store the event. */
export const PLAN_GRACE_MS = 2 * PLAN_USED_MS

/** A share of the settings: its id is the hash of its content. */
export type PlanPart = { readonly id: string; readonly content: () => string }
export type PlanPartsOf = Readonly<Record<PlanKind, readonly PlanPart[]>>

/** The plan itself: the ids of its parts. */
export function planOf(parts: PlanPartsOf): PlanPart {
  const content = JSON.stringify(Object.fromEntries(PLAN_KINDS.map((kind) => [kind, parts[kind].map(({ id }) => id)])))
  return { id: uuidOf(content), content: () => content }
}

type At = { readonly workspaceId: string; readonly projectId: string; readonly now: number }

/** Stores a plan before the first event is decided by it, and its use later. Only new parts are written. */
export async function storePlan(
  db: Db,
  at: At & { readonly plan: PlanPart; readonly parts: PlanPartsOf },
): Promise<void> {
  const { workspaceId, projectId } = at
  const all = new Map([...PLAN_KINDS.flatMap((kind) => at.parts[kind]), at.plan].map((part) => [part.id, part]))
  const of = { workspaceId, projectId, now: new Date(at.now) }
  const stored = await usePlanRows(db, { ...of, ids: [...all.keys()], recent: new Date(at.now - RECENT_MS) })
  const rows = [...all.values()]
    .filter(({ id }) => !stored.has(id))
    .map(({ id, content }) => ({ id, content: content() }))
  if (rows.length > 0) await insertPlanRows(db, { ...of, rows })
}

/** The contents of the parts of a plan; undefined: it is not stored. */
export async function findPlan(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  id: string,
): Promise<Readonly<Record<PlanKind, readonly string[]>> | undefined> {
  const { workspaceId, projectId } = ctx
  const [plan] = await listPlanRows(ctx.db, { workspaceId, projectId, ids: [id] })
  if (plan === undefined) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `planOf`
  const parts = JSON.parse(plan.content) as PlanParts
  const ids = PLAN_KINDS.flatMap((kind) => parts[kind])
  const rows = await listPlanRows(ctx.db, { workspaceId, projectId, ids })
  const contents = new Map(rows.map((row) => [row.id, row.content]))
  const contentsOf = (kind: PlanKind) => parts[kind].flatMap((part) => contents.get(part) ?? [])
  return {
    rules: contentsOf('rules'),
    destinations: contentsOf('destinations'),
    workflows: contentsOf('workflows'),
    triggers: contentsOf('triggers'),
  }
}
