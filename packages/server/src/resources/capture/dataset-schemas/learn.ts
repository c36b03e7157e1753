import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { emptySchema, schemaText } from '../../../domain/capture/dataset-schema.ts'
import { INSTALLATION } from '../../../platform/heavy/heavy.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { learnPayloads } from '../../../tasks/learn-schema.ts'
import { batchesOf } from '../../batches.ts'
import {
  findSchema,
  insertDrifts,
  listUnreadDatasets,
  listUnreadRecords,
  pruneDrifts,
  saveSchema,
  type NewDrift,
  type UnreadDataset,
  type UnreadRecord,
} from './queries.ts'

/** A record is committed within this time after its id was created, so the loop reads only older ones. */
export const SETTLED_MS = 30_000
const EVERY_MS = 60_000
const DATASETS_AT_ONCE = 100
/** A run rests for at least this many times its duration, so that it takes at most 2 % of one connection. */
const REST_FACTOR = 49
export const FIRST = '00000000-0000-0000-0000-000000000000'

const { datasetReadPerMinuteMax, datasetReadBytesMax, datasetDriftsShown } = LIMITS

/**
 * The loop that learns the schema of every dataset from its payloads, called every few seconds.
 */
export function createLearner(deps: Deps): () => Promise<Pick<LoopWork, 'failed'>> {
  let restUntil = 0
  return async () => {
    const begun = deps.clock.now()
    if (begun < restUntil) return { failed: 0 }
    const rows = new SeparateRows(deps.retryLog, 'dataset.not_learned')
    const at = { settled: uuidv7Floor(begun - SETTLED_MS), learnedBefore: new Date(begun - EVERY_MS) }
    for (let without: readonly string[] | undefined; without?.length !== rows.failed.length;) {
      without = rows.failed
      // oxlint-disable-next-line no-await-in-loop -- datasets that fail make room for the next ones in the same run
      const found = await listUnreadDatasets(deps.database.forSystem, { ...at, without, limit: DATASETS_AT_ONCE })
      for (const dataset of found)
        // oxlint-disable-next-line no-await-in-loop -- one dataset after another
        await rows.run({ kind: 'dataset', id: dataset.id }, () => learnDataset(deps, dataset))
    }
    const ended = deps.clock.now()
    restUntil = ended + REST_FACTOR * (ended - begun)
    return { failed: rows.failed.length }
  }
}

/**
 * Reads a sample of the new records of one dataset: the oldest ones. If more have come than a minute's sample, it
 * leaves the rest out, so that a busy dataset costs no more than a quiet one.
 */
async function learnDataset(deps: Deps, { workspace_id, project_id, id, name }: UnreadDataset): Promise<void> {
  const of = { workspaceId: workspace_id, projectId: project_id, datasetId: id }
  const now = deps.clock.now()
  const settled = uuidv7Floor(now - SETTLED_MS)
  // oxlint-disable-next-line house/verb-guards -- a loop learns from records; no person acts
  await deps.database.forWorkspace(workspace_id).transaction(async (tx) => {
    const stored = await findSchema(tx, { ...of, lock: true })
    const known = stored === undefined ? schemaText(emptySchema()) : stored.content
    const records = await listUnreadRecords(tx, {
      ...of,
      dataset: name,
      after: stored?.read_to ?? FIRST,
      before: settled,
      limit: datasetReadPerMinuteMax,
      bytesMax: datasetReadBytesMax,
    })
    const { heavy, uuid } = deps
    const { schema, drifts } = await learnAll({ heavy, uuid, workspaceId: INSTALLATION, schema: known }, records)
    const full = records.length >= datasetReadPerMinuteMax
    const read_to = full ? settled : (records.at(-1)?.id ?? stored?.read_to ?? FIRST)
    await saveSchema(tx, { ...of, read_to, learned_at: new Date(now), content: schema })
    if (drifts.length === 0) return
    await insertDrifts(tx, of, drifts.slice(-datasetDriftsShown))
    await pruneDrifts(tx, { ...of, retained: datasetDriftsShown })
  })
}

type Learning = Pick<Deps, 'heavy' | 'uuid'> & { readonly workspaceId: string; readonly schema: string }

/** Reads the payloads of records into a schema. Returns it as it is stored, and the changes. */
export async function learnAll(
  { heavy, uuid, workspaceId, schema }: Learning,
  records: readonly UnreadRecord[],
): Promise<{ readonly schema: string; readonly drifts: readonly NewDrift[] }> {
  const drifts: NewDrift[] = []
  let text = schema
  for (const batch of batchesOf(records, ({ data }) => data?.length ?? 0)) {
    const payloads = batch.map(({ data, received_at }) => ({ data, at: received_at.getTime() }))
    const input = { schema: text, payloads }
    const work = batch.reduce((sum, { data }) => sum + (data?.length ?? 0), text.length)
    // oxlint-disable-next-line no-await-in-loop -- a batch changes the schema for the next one
    const learned = await heavy.run(learnPayloads, { workspaceId, input, work })
    text = learned.schema
    for (const { place, ...drift } of learned.drifts) {
      const record = batch[place]
      if (record !== undefined) drifts.push({ ...drift, id: uuid(), record_id: record.id, at: record.received_at })
    }
  }
  return { schema: text, drifts }
}
