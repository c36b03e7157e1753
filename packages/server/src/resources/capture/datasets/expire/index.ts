import type { Deps } from '../../../../context.ts'
import { uuidv7Ms } from '../../../../platform/ids.ts'
import { SeparateRows, type LoopWork } from '../../../../platform/separate-rows.ts'
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
/** A pass that is forgotten starts again. */
const PASSES_MAX = 10_000
const FIRST = '00000000-0000-0000-0000-000000000000'

/** One way through the records of a dataset, which can take several runs. `waiting`: records that had to stay. */
type Pass = { readonly begunAt: number; readonly after: string; readonly waiting: number }
type Passes = Map<string, Pass>

/**
 * The loop that erases the records of deleted datasets, and records that are older than the retention of their dataset, in small
 * pieces with a commit for each. A record stays until all of its deliveries have ended, because 201 promised them. Datasets
 * take turns, so that one with many such records delays no other.
 */
export function createExpirer(deps: Deps): () => Promise<Pick<LoopWork, 'failed'>> {
  const passes: Passes = new Map()
  let from = { deleted: FIRST, shorter: FIRST }
  return async () => {
    const system = deps.database.forSystem
    const limit = DATASETS_AT_ONCE
    const deleted = await listDeletedDatasets(system, { after: from.deleted, limit })
    const shorter = await listShorterDatasets(system, {
      after: from.shorter,
      now: new Date(deps.clock.now()),
      limit,
    })
    from = { deleted: endOf(deleted), shorter: endOf(shorter) }
    if (passes.size > PASSES_MAX) passes.clear()
    const rows = new SeparateRows(deps.retryLog, 'dataset.not_expired')
    await expireInTurns({ deps, passes, rows }, [...deleted, ...shorter])
    return { failed: rows.failed.length }
  }
}

/** The id after which the next run lists datasets, because the records of the first ones may have to stay. */
const endOf = (listed: readonly Expiring[]): string =>
  listed.length < DATASETS_AT_ONCE ? FIRST : (listed.at(-1)?.id ?? FIRST)

type Expirer = { readonly deps: Deps; readonly passes: Passes; readonly rows: SeparateRows }

async function expireInTurns(expirer: Expirer, listed: readonly Expiring[]): Promise<void> {
  let left = STEPS_MAX
  for (let open = listed; open.length > 0 && left > 0;) {
    const unfinished: Expiring[] = []
    for (const dataset of open.slice(0, left)) {
      left -= 1
      // oxlint-disable-next-line no-await-in-loop -- one piece of each dataset in turns
      const more = await expirer.rows.run({ kind: 'dataset', id: dataset.id }, () => expireNext(expirer, dataset))
      if (more === true) unfinished.push(dataset)
    }
    open = unfinished
  }
}

/** Erases the next piece of a dataset. Returns whether its pass continues. */
async function expireNext({ deps, passes }: Expirer, dataset: Expiring): Promise<boolean> {
  const { workspace_id: workspaceId, project_id: projectId, id, name, before, deletion } = dataset
  const at = { workspaceId, projectId }
  const database = deps.database.forWorkspace(workspaceId)
  const { begunAt, after, waiting } = passes.get(id) ?? { begunAt: deps.clock.now(), after: FIRST, waiting: 0 }
  const found = await listExpiredRecords(database, { ...at, dataset: name, after, before, limit: RECORDS_AT_ONCE })
  const pieces = found.filter(({ outstanding }) => !outstanding)
  let erased = 0
  if (pieces.length > 0) {
    // oxlint-disable-next-line house/verb-guards -- the deletion was audited, and a retention acts by itself
    erased = await database.transaction((tx) => eraseRecords(tx, { ...at, pieces }))
  }
  const stayed = waiting + found.length - erased
  const last = found.at(-1)
  if (last !== undefined && found.length === RECORDS_AT_ONCE) {
    passes.set(id, { begunAt, after: last.id, waiting: stayed })
    return true
  }
  passes.delete(id)
  if (deletion !== null && stayed === 0) await endWhenSettled(deps, { dataset: { ...dataset, deletion }, begunAt })
  return false
}

/** Creates the dataset again for late records, because every record has a dataset. */
async function endWhenSettled(
  deps: Deps,
  { dataset, begunAt }: { dataset: Expiring & { readonly deletion: string }; begunAt: number },
): Promise<void> {
  const { workspace_id: workspaceId, project_id: projectId, name, before, deletion } = dataset
  const now = deps.clock.now()
  if (begunAt - uuidv7Ms(before) < SETTLED_MS) return
  const at = { workspaceId, projectId }
  // oxlint-disable-next-line house/verb-guards -- the deletion was audited when a person requested it
  const made = await deps.database.forWorkspace(workspaceId).transaction(async (tx) => {
    await endDeletion(tx, { ...at, id: deletion })
    return recreateIfUsed(tx, { ...at, name, before, id: deps.uuid(), now: new Date(now) })
  })
  if (made > 0) deps.configChanged(projectId)
}
