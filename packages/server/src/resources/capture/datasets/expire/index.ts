import type { Deps } from '../../../../context.ts'
import { uuidv7Ms } from '../../../../platform/ids.ts'
import {
  endDeletion,
  eraseRecords,
  listDeletedDatasets,
  listExpiredRecords,
  listShorterDatasets,
  recreateIfUsed,
  type Expiring,
} from './queries.ts'

const DATASETS_AT_ONCE = 100
const RECORDS_AT_ONCE = 200
/** Bounds one run, so that a process stops soon when asked. The next run continues. */
const STEPS_MAX = 500
/** A process that had not heard of a deletion may store a record until this long after it. */
const SETTLED_MS = 60_000
const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * Erases the records of deleted datasets, and records that are older than the retention of their dataset, in small
 * pieces with a commit for each. A record stays until all of its deliveries have ended, because 201 promised them.
 */
export async function expireDatasets(deps: Deps): Promise<void> {
  const system = deps.database.forSystem
  const deleted = await listDeletedDatasets(system, DATASETS_AT_ONCE)
  const shorter = await listShorterDatasets(system, { now: new Date(deps.clock.now()), limit: DATASETS_AT_ONCE })
  const steps = { left: STEPS_MAX }
  // oxlint-disable-next-line no-await-in-loop -- one dataset after another
  for (const dataset of [...deleted, ...shorter]) await expireDataset(deps, dataset, steps)
}

// oxlint-disable-next-line max-params -- dependencies, the dataset, and the budget of the run
async function expireDataset(deps: Deps, dataset: Expiring, steps: { left: number }): Promise<void> {
  const { workspace_id: workspaceId, project_id: projectId, name, before, deletion } = dataset
  const at = { workspaceId, projectId }
  const database = deps.database.forWorkspace(workspaceId)
  let [after, waiting] = [FIRST, 0]
  for (;;) {
    if (steps.left <= 0) return
    steps.left -= 1
    // oxlint-disable-next-line no-await-in-loop -- each piece starts where the previous one ended
    const found = await listExpiredRecords(database, { ...at, dataset: name, after, before, limit: RECORDS_AT_ONCE })
    const pieces = found.filter(({ outstanding }) => !outstanding)
    waiting += found.length - pieces.length
    if (pieces.length > 0) {
      // oxlint-disable-next-line no-await-in-loop, house/verb-guards -- as above; the deletion was audited, and a retention acts by itself
      waiting += pieces.length - (await database.transaction((tx) => eraseRecords(tx, { ...at, pieces })))
    }
    const last = found.at(-1)
    if (last === undefined || found.length < RECORDS_AT_ONCE) break
    after = last.id
  }
  if (deletion !== null && waiting === 0) await endWhenSettled(deps, { ...dataset, deletion })
}

/** Creates the dataset again for late records, because every record has a dataset. */
async function endWhenSettled(deps: Deps, dataset: Expiring & { readonly deletion: string }): Promise<void> {
  const { workspace_id: workspaceId, project_id: projectId, name, before, deletion } = dataset
  const now = deps.clock.now()
  if (now - uuidv7Ms(before) < SETTLED_MS) return
  const at = { workspaceId, projectId }
  // oxlint-disable-next-line house/verb-guards -- the deletion was audited when a person requested it
  const made = await deps.database.forWorkspace(workspaceId).transaction(async (tx) => {
    await endDeletion(tx, { ...at, id: deletion })
    return recreateIfUsed(tx, { ...at, name, before, id: deps.uuid(), now: new Date(now) })
  })
  if (made > 0) deps.configChanged(projectId)
}
