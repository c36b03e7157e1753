import { LIMITS, type EventSummary } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { startOfEvent, titleOfEvent } from '../../../domain/capture/event-title.ts'
import { listEventStarts } from './queries.ts'

const NOTHING: EventSummary = { title: null, payload_start: '' }

/** The title of each of these records, and the start of its payload, however long the payload is. */
export async function summarizeEvents(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  recordIds: readonly string[],
): Promise<(recordId: string) => EventSummary> {
  if (recordIds.length === 0) return () => NOTHING
  const { workspaceId, projectId } = ctx
  const charsMax = LIMITS.titleReadCharsMax
  const rows = await listEventStarts(ctx.db, { workspaceId, projectId, recordIds: [...new Set(recordIds)], charsMax })
  const summaries = new Map(
    rows.map((row) => [
      row.id,
      { title: titleOfEvent(row), payload_start: startOfEvent(row.start, LIMITS.payloadStartCharsMax) },
    ]),
  )
  return (id) => summaries.get(id) ?? NOTHING
}
