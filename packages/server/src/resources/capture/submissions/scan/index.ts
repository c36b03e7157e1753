import type { Ctx } from '../../../../context.ts'
import { lookThrough, readsPayloads, withinBytes, type PayloadFilter, type Searched } from '../../payloads/index.ts'
import type { PacedWork } from '../../../../platform/paced-work.ts'
import type { SubmissionRow } from '../queries.ts'
import { readStored } from '../read-stored.ts'
import { listBodies, scanSubmissions } from './queries.ts'

export type UnfiledScan = PayloadFilter & {
  readonly webhookId: string | null
  readonly after: string | null
  readonly before: string | null
  readonly limit: number
  readonly scannedMax: number
  readonly work: PacedWork
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

/** Work for each decoded character of a body. */
const READ_WORK = 8

/** One bounded piece of a search: the matches that were filed nowhere among the next submissions, newest first. */
export async function scan(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  asked: UnfiledScan,
): Promise<FoundSubmissions> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const page = await scanSubmissions(ctx.db, { ...at, ...asked, limit: asked.scannedMax })
  const fitting = page.filter(
    (row) => row.record_ids.length === 0 && (asked.webhookId === null || row.webhook_id === asked.webhookId),
  )
  const byPayload = readsPayloads(asked)
  const read = byPayload ? withinBytes(fitting) : fitting
  const bodies = byPayload ? await listBodies(ctx.db, { ...at, ids: read.map((row) => row.id) }) : []
  const bodyOf = new Map(bodies.map((row) => [row.id, row]))
  let unreadable = 0
  const searchedOf = async ({ id }: SubmissionRow): Promise<Searched | undefined> => {
    if (!byPayload) return { payload: '' }
    const stored = bodyOf.get(id)
    if (stored === undefined) return undefined
    const { body, body_bytes, headers } = stored
    const decoded = await readStored({ body: body_bytes ?? Buffer.from(body ?? ''), headers })
    if (!decoded.ok) {
      unreadable += 1
      return undefined
    }
    await asked.work.spend(READ_WORK * decoded.chars)
    return { payload: decoded.text, headers: JSON.stringify(headers) }
  }
  const { looked, found } = await lookThrough(read, { searchedOf, filter: asked, work: asked.work })
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
