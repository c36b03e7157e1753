import type { Deps } from '../../context.ts'
import type { Db } from '../../platform/db.ts'
import { pauseOutstanding } from '../../resources/delivery/deliveries/queries.ts'
import { notifyDisabled } from '../../resources/delivery/destinations/index.ts'
import { disableDestination } from '../../resources/delivery/destinations/queries.ts'
import { bumpConfig } from '../../resources/workspace/projects/queries.ts'
import { findOpen, turn } from './attempts/queries.ts'
import type { HeldAt } from './lanes/queries.ts'
import type { Held, Turned, TurnInput } from './ports.ts'
import { begunOf, heldAt, laneKey, noteRow, settleRow } from './postgres-rows.ts'

/** One turn of the machine: it settles attempts, starts others and stores notes, in one commit. */
export async function runTurn(deps: Deps, input: TurnInput): Promise<Turned> {
  const now = new Date(deps.clock.now())
  const settles = input.settles.map((settle) => settleRow(settle, now))
  const begins = input.begins.map((begin) => ({
    ...heldAt(begin),
    deliveryId: begin.delivery_id,
    attemptId: deps.uuid(),
  }))
  const notes = input.notes === undefined ? [] : input.notes.map((note) => noteRow(note, now))
  const over = input.settles.flatMap((settle) =>
    settle.disable_destination === null
      ? []
      : [{ ...heldAt(settle), attemptId: settle.attempt_id, reason: settle.disable_destination }],
  )
  const rows = { settles, begins, notes, inOrder: input.begins.some(({ ordered }) => ordered === true), now }
  const turned = over.length === 0 ? await turn(deps.database, rows) : await turnWithDisabled(deps, { ...rows, over })
  const lanes = new Map(turned.lanes.map((lane) => [laneKey(lane), lane]))
  const askedLanes = distinctHeld(input.begins)
  return {
    begun: turned.begun.map(begunOf),
    applied: turned.applied,
    paused: askedLanes.filter(
      ({ lane, fence }) => lanes.get(lane)?.fence === fence && lanes.get(lane)?.paused === true,
    ),
    lost: askedLanes.filter(({ lane, fence }) => lanes.get(lane)?.fence !== fence),
  }
}

/**
 * A 410, or no success for days, turns the destination off and pauses its waiting deliveries, in the commit that settles the
 * attempt. Only an attempt that is still open counts, because a settle that arrives twice must not turn off a destination
 * that a person has turned on since.
 */
type Over = HeldAt & { readonly attemptId: string; readonly reason: 'gone' | 'failing' }

async function turnWithDisabled(deps: Deps, at: Parameters<typeof turn>[1] & { over: readonly Over[] }) {
  const disabled: Disabled[] = []
  const turned = await deps.database.transaction(async (db) => {
    const open = await findOpen(db, at.over)
    for (const lane of inLockOrder(
      at.over.filter((settle) => open.has(settle.attemptId)),
      laneKey,
    )) {
      // oxlint-disable-next-line no-await-in-loop -- rare, and one transaction has one connection
      const destination = await disableDestination(db, { ...lane, now: at.now })
      if (destination === undefined) continue
      disabled.push({ ...lane, projectId: destination.project_id })
      // oxlint-disable-next-line no-await-in-loop -- as above
      await pauseOutstanding(db, { ...lane, reason: 'destination_disabled', now: at.now })
    }
    const ended = await turn(db, at)
    await notifyEach(deps, db, { disabled, now: at.now })
    return ended
  })
  for (const { projectId } of disabled) deps.configChanged(projectId)
  return turned
}

type Disabled = Over & { readonly projectId: string }

/**
 * Changes by people also lock projects and audit logs, so these locks come last: projects first, as in those changes,
 * and each kind in one order.
 */
async function notifyEach(
  deps: Deps,
  db: Db,
  { disabled, now }: { disabled: readonly Disabled[]; now: Date },
): Promise<void> {
  const projects = new Map(disabled.map((lane) => [`${lane.workspaceId}/${lane.projectId}`, lane]))
  for (const { workspaceId, projectId } of inLockOrder(
    [...projects.values()],
    (lane) => `${lane.workspaceId}/${lane.projectId}`,
  )) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    await bumpConfig(db, { workspaceId, projectId, now })
  }
  // oxlint-disable-next-line no-await-in-loop -- as above
  for (const lane of disabled) await notifyDisabled(deps, db, lane)
}

/** Two transactions that take the same locks take them in the same order, so that they cannot deadlock. */
function inLockOrder<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function distinctHeld(begins: readonly Held[]): readonly Held[] {
  return [...new Map(begins.map(({ lane, fence }) => [`${lane} ${fence}`, { lane, fence }])).values()]
}
