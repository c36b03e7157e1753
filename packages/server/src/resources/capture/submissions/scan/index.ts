import type { Ctx } from '../../../../context.ts'
import { lookThrough, readsPayloads, withinBytes, type PayloadFilter } from '../../payloads/index.ts'
import { isRepeated, type Repeated } from '../../../../domain/capture/repeated.ts'
import type { WorkCounter } from '../../../../domain/work-budget.ts'
import { storedBodyOf } from '../../../../tasks/read-stored.ts'
import type { SubmissionRow } from '../queries.ts'
import { listBodies, scanSubmissions } from './queries.ts'

export type UnfiledScan = PayloadFilter & {
  readonly webhookId: string | null
  /** Only submissions that were repeated in this way. */
  readonly repeated: Repeated | undefined
  readonly after: string | null
  readonly before: string | null
  readonly limit: number
  readonly scannedMax: number
  readonly work: WorkCounter
}

export type FoundSubmissions = {
  readonly rows: readonly SubmissionRow[]
  readonly reached: string | null
  readonly scanned: number
  /** The number of scanned submissions that were filed nowhere. */
  readonly unfiled: number
  /** The number of bodies that could not be read as a payload. */
  readonly unreadable: number
}

const NOTHING = { payload: '' }

/** One bounded piece of a search: the matches that were filed nowhere among the next submissions, newest first. */
export async function scan(
  ctx: Pick<Ctx, 'db' | 'heavy' | 'workspaceId' | 'projectId'>,
  asked: UnfiledScan,
): Promise<FoundSubmissions> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const page = await scanSubmissions(ctx.db, { ...at, ...asked, limit: asked.scannedMax })
  const fitting = page.filter(
    (row) =>
      row.record_ids.length === 0 &&
      (asked.webhookId === null || row.webhook_id === asked.webhookId) &&
      isRepeated(row, asked.repeated),
  )
  const byPayload = readsPayloads(asked)
  const read = byPayload ? withinBytes(fitting) : fitting
  const { looked, found, unreadable } = await lookThrough(ctx, read, {
    read: async (batch) => {
      if (!byPayload) return batch.map(() => NOTHING)
      const bodies = await listBodies(ctx.db, { ...at, ids: batch.map(({ id }) => id) })
      const bodyOfRow = new Map(bodies.map((row) => [row.id, { ...storedBodyOf(row), query: row.query }]))
      return batch.map(({ id }) => bodyOfRow.get(id))
    },
    bytesOf: ({ bytes }) => (byPayload ? bytes : 0),
    filter: asked,
    work: asked.work,
  })
  const rows = found.slice(0, asked.limit)
  const end = page.length < asked.scannedMax ? undefined : page.at(-1)
  const last = found.length > rows.length ? rows.at(-1) : looked < fitting.length ? read[looked - 1] : end
  const scanned = last === undefined ? page : page.slice(0, page.findIndex(({ id }) => id === last.id) + 1)
  return {
    rows,
    reached: last?.id ?? null,
    scanned: scanned.length,
    unfiled: scanned.filter((row) => row.record_ids.length === 0).length,
    unreadable,
  }
}
