/**
 * Rollups: what happened in each minute and each hour, in each project and at each destination, so that no question about a
 * range of time reads the events themselves (docs/adr/0027). For reading:
 *
 *   const range = await rangeAt(db, { from, to, now })          // milliseconds; gives whole minutes and how far they are counted
 *   await sumProjects(db, { workspaceId, projectIds, pieces: range.pieces, from: new Date(range.from), bucketSeconds: 3_600 })
 *   await sumDestinations(db, { workspaceId, projectIds, pieces: range.pieces, failing: null })
 *   quantileMs(row.response_ms, 0.95)                            // domain/workspace/latency-histogram.ts
 *
 * - An attempt counts in the minute in which it began, with the outcome it came to: `succeeded`, `failed`, `interrupted`, or
 *   `open` as long as it has none. `gave_up` are those of `failed` that were the last of their delivery's schedule.
 * - `response_ms` is how long attempts took; `delivery_ms` from the acceptance of the event to the end of the attempt that
 *   delivered it, without attempts that a replay began. Both are histograms, which can be added.
 * - A submission, with its records and the bytes of its body, counts in the minute of its id, which is when it came; a
 *   rejection in the minute of its row.
 * - Minutes before `closed_until` are exact and change no more, but for attempts that were open then, which are looked at again until
 *   they have an outcome. Later ones are as of the writer's last run, some seconds ago.
 * - Minutes are kept for 8 days and hours for 400, whatever the plan keeps: there is nothing of an event in them.
 *
 * The writer (`createRollUp`, roll-up.ts) runs in processes with the role `work`, behind the commits: an accepted request and a
 * turn of delivery do nothing for it.
 */
export { rangeAt, type CountedRange } from './read/range.ts'
export { seriesOfDestination, sumDestinations, sumProjects, sumRejections, type ProjectSums } from './read/queries.ts'
export { createRollUp } from './roll-up.ts'
