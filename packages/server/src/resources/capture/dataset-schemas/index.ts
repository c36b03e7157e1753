import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import {
  emptySchema,
  readSchema,
  schemaText,
  typesOf,
  type DatasetSchema,
  type Field,
} from '../../../domain/capture/dataset-schema.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findDataset } from '../datasets/index.ts'
import type { Room } from '../../verbs.ts'
import { FIRST, learnAll } from './learn.ts'
import { findSchema, listDrifts, listUnreadRecords, type DriftRow } from './queries.ts'

export { createLearner } from './learn.ts'

const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const { datasetReadPerMinuteMax, datasetReadBytesMax, datasetDriftsShown } = LIMITS

export const datasetSchemas: Room<'datasetSchemas'> = {
  get: async (ctx, { id }) => {
    const dataset = await findDataset(ctx.db, { ...ctx, id })
    if (dataset === undefined) throw refuse('not_found')
    const { schema, learnedAt } = await schemaOf(ctx, { id, name: dataset.name })
    const drifts = await listDrifts(ctx.db, { ...ctx, datasetId: id, limit: datasetDriftsShown })
    return {
      schema: {
        dataset: dataset.name,
        records_read: schema.read,
        learned_at: learnedAt?.toISOString() ?? null,
        complete: !schema.cut,
        fields: [...schema.fields].map(([path, field]) => presentField(path, field, schema.read)),
        drifts: drifts.map(presentDrift),
      },
    }
  },
}

/**
 * The stored schema of a dataset, with the additions of the records since then. The loop stores the additions later,
 * because further records may still be committed among these.
 */
export async function schemaOf(
  ctx: Pick<Ctx, 'db' | 'heavy' | 'workspaceId' | 'projectId' | 'uuid'>,
  of: { id: string; name: string },
): Promise<{ readonly schema: DatasetSchema; readonly learnedAt: Date | undefined }> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const stored = await findSchema(ctx.db, { ...at, datasetId: of.id })
  const fresh = await listUnreadRecords(ctx.db, {
    ...at,
    dataset: of.name,
    after: stored?.read_to ?? FIRST,
    before: LAST,
    limit: datasetReadPerMinuteMax,
    bytesMax: datasetReadBytesMax,
  })
  const known = stored === undefined ? schemaText(emptySchema()) : stored.content
  const { schema } = await learnAll({ ...ctx, schema: known }, fresh)
  return { schema: readSchema(schema), learnedAt: stored?.learned_at }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

function presentField(path: string, field: Field, read: number) {
  return {
    path,
    types: [...typesOf(field)],
    seen: field.seen,
    presence: read === 0 ? 0 : Math.round((field.seen / read) * 10_000) / 10_000,
    first_seen_at: isoOf(field.first_seen_at),
    last_seen_at: isoOf(field.last_seen_at),
    gone_at: field.gone_at === null ? null : isoOf(field.gone_at),
  }
}

function presentDrift({ kind, path, type, record_id, at }: DriftRow) {
  return { kind, path, type, record_id: encodeId('record', record_id), at: at.toISOString() }
}
