import type { ReactElement } from 'react'
import { useClient } from '../../../data/place.ts'
import type { Rejection } from '../../../data/tail.ts'
import { ExportDialog } from '../../../parts/export-dialog.tsx'
import type { Asked } from './use-rejections.ts'

const HOUR_MS = 3_600_000
const MEMBERS = [
  'id',
  'at',
  'reason',
  'status',
  'count',
  'webhook_id',
  'ingest_key_id',
  'source_ip',
  'method',
  'content_type',
] as const

/** The log of the range as a file: one row for a credential, a reason and a minute. */
export function ExportRejections({
  asked: { hours, webhook, key },
  onClose,
}: {
  readonly asked: Asked
  readonly onClose: () => void
}): ReactElement {
  const client = useClient()
  async function* pages(signal: AbortSignal): AsyncGenerator<{ rows: readonly Rejection[]; scanned: number }> {
    const range = {
      from: new Date(Date.now() - hours * HOUR_MS).toISOString(),
      to: new Date(Date.now() + 60_000).toISOString(),
    }
    let cursor: string | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
      const page: Awaited<ReturnType<typeof client.rejections.list>> = await client.rejections.list(
        { limit: 200, cursor, webhook_id: webhook, ingest_key_id: key, ...range },
        { signal },
      )
      yield { rows: page.rejections, scanned: page.rejections.length }
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }
  const columns = MEMBERS.map((name) => ({
    name,
    of: (row: Rejection) => (row[name] === null ? null : String(row[name])),
  }))
  return (
    <ExportDialog
      source={{
        name: 'rejections',
        text: 'Every minute in the range with a rejected request, newest first.',
        pages,
        columns,
        json: (row) => row,
      }}
      onClose={onClose}
    />
  )
}
