/**
 * Rollups: the events of each minute and each hour, in each project and at each destination, so that no query about a time range reads
 * the events themselves (docs/adr/0027). To read them:
 *
 *   const range = await rangeAt(db, { from, to, now })          // milliseconds; returns whole minutes, and how far they are counted
 *   await sumProjects(db, { workspaceId, projectIds, pieces: range.pieces, from: new Date(range.from), bucketSeconds: 3_600 })
 *   await sumDestinations(db, { workspaceId, projectIds, pieces: range.pieces, failing: null })
 *   quantileMs(row.response_ms, 0.95)                            // domain/workspace/latency-histogram.ts
 *
 * - An attempt counts in the minute in which it started, with its outcome: `succeeded`, `failed`, `interrupted`, or `open` while it has
 *   none. `gave_up` counts those of `failed` that were the last of their delivery's schedule.
 * - `response_ms` is the duration of attempts. `delivery_ms` is the time from the acceptance of the event to the end of the attempt that
 *   delivered it, without attempts of replays. Both are histograms, which can be added.
 * - A submission, with its records and the bytes of its body, counts in the minute of its id, which is when it arrived. A rejection counts
 *   in the minute of its row.
 * - A line of the map counts a record, a delivery, a workflow instance or an AI run in the minute of its id (docs/adr/0400).
 * - Minutes before `closed_until` are exact and no longer change, except for attempts that were open then; they are read again until they
 *   have an outcome. Later minutes are as of the writer's last run, some seconds ago.
 * - Minutes are retained for 8 days and hours for 400, whatever the plan is, because they contain nothing of an event.
 *
 * The writer (`createRollUp`, roll-up.ts) runs in processes with the role `work`, after the commits: accepted requests and turns of
 * delivery do no work for it.
 */
export { rangeAt, type CountedRange } from './read/range.ts'
export {
  findFirstCounted,
  seriesOfDestination,
  sumDestinations,
  sumOutcomes,
  sumProjects,
  sumRejections,
  type OutcomeSums,
  type ProjectSums,
} from './read/queries.ts'
export { findFlowsSince, NIL, sumFlows, type FlowSums } from './flows/queries.ts'
export { createRollUp } from './roll-up.ts'
