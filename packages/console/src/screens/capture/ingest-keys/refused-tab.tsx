import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import type { IngestKey } from '../../../data/lists.ts'
import { CAUSES } from '../../../parts/causes.ts'
import { Glyph } from '../../../ui/glyph.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'

const SHOWN = 50
const POLL_MS = 10_000

/** The requests that were rejected with this key, each with a remedy. */
export function RefusedTab({ ingestKey: { id } }: { readonly ingestKey: IngestKey }): ReactElement {
  const asked = useAsk(
    ['rejections', 'of', id],
    (client, signal) => client.rejections.list({ ingest_key_id: id, limit: SHOWN }, { signal }),
    { everyMs: POLL_MS },
  )
  const rejections = asked.data?.rejections
  if (rejections === undefined)
    return asked.error === null ? (
      <Loading rows={8} height={48} />
    ) : (
      <Refused error={asked.error} again={asked.refetch} />
    )
  return (
    <>
      {asked.error !== null && <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />}
      {rejections.length === 0 && (
        <Empty title="No rejected requests with this key">
          Rejected requests appear here within ten seconds, with the reason and a remedy.
        </Empty>
      )}
      <ul aria-label="Rejected">
        {rejections.map(({ id: row, at, status, reason, count, remedy, source_ip }) => (
          <li key={row} className="border-b border-line/55">
            <To
              screen="rejections"
              search={{ sel: reason }}
              className="grid min-h-12 grid-cols-[14px_minmax(96px,auto)_32px_minmax(0,1fr)_auto] items-center gap-3 px-5 py-1.5 outline-offset-[-2px] hover:bg-hover"
            >
              <Glyph tone="rejected" label="rejected" />
              <Time at={at} />
              <span className="mono text-data font-control text-fail">{status}</span>
              <span className="min-w-0">
                <b className="font-control">{CAUSES[reason].title}</b>
                {count > 1 && <span className="text-ink-3"> ×{count.toLocaleString('en')}</span>}
                <span className="block truncate text-label leading-[14px] text-ink-3">{remedy}</span>
              </span>
              <span className="mono text-data text-ink-3">{source_ip ?? 'unknown'}</span>
            </To>
          </li>
        ))}
      </ul>
    </>
  )
}
