import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import type { Webhook } from '../../../data/lists.ts'
import { CAUSES } from '../../../parts/causes.ts'
import { Button } from '../../../ui/button.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { Views } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { dayText } from '../../../ui/moments.ts'
import { Time } from '../../../ui/time.tsx'
import { activityLight } from './recent-activity.tsx'
import type { ActivityRow } from './use-activity.ts'

const ROWS = 50
const POLL_MS = 5_000
const KINDS = [
  { id: 'all', label: 'All' },
  { id: 'received', label: 'Received' },
  { id: 'rejected', label: 'Rejected' },
] as const
type Kind = (typeof KINDS)[number]['id']

/** The requests of the last 7 days, received and refused together. */
export function ActivityTab({ webhook: { id } }: { readonly webhook: Webhook }): ReactElement {
  const [kind, setKind] = useState<Kind>('all')
  const [offset, setOffset] = useState(0)
  const asked = useAsk(
    ['activity', 'list', id, kind, offset],
    (client, signal) => client.activity.list({ id, kind, offset, limit: ROWS }, { signal }),
    { everyMs: POLL_MS, keep: true },
  )
  if (asked.data === undefined)
    return asked.error === null ? (
      <Loading rows={10} height={36} />
    ) : (
      <Refused error={asked.error} again={asked.refetch} />
    )
  const { rows, total, since } = asked.data
  return (
    <>
      {asked.error !== null && <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />}
      <div className="flex h-10 items-center gap-3 border-b border-line/55 px-5">
        <Views
          label="Which"
          of={KINDS}
          at={kind}
          go={(to) => {
            setKind(to)
            setOffset(0)
          }}
        />
        <span className="ml-auto text-data text-ink-3">since {dayText(since)}</span>
      </div>
      {rows.length === 0 &&
        (kind === 'all' ? (
          <Nothing />
        ) : (
          <p className="px-5 py-6 text-ink-3">
            Nothing was {kind === 'received' ? 'received' : 'rejected'} on these days.
          </p>
        ))}
      <ul aria-label="Activity">
        {rows.map((row) => (
          <Line key={row.id} row={row} />
        ))}
      </ul>
      {total > ROWS && (
        <div className="flex items-center gap-2 px-5 py-3 text-ink-3">
          <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - ROWS))}>
            Newer
          </Button>
          <Button disabled={offset + ROWS >= total} onClick={() => setOffset(offset + ROWS)}>
            Older
          </Button>
          {(offset + 1).toLocaleString('en')} to {Math.min(offset + ROWS, total).toLocaleString('en')} of{' '}
          {total.toLocaleString('en')}
        </div>
      )}
    </>
  )
}

function Line({ row }: { readonly row: ActivityRow }): ReactElement {
  const { kind, id, at, reason, status, count, source_ip, method, content_type } = row
  const received = kind === 'received'
  const { tone, word } = activityLight(row)
  const cells = (
    <>
      <Glyph tone={tone} label={word} />
      <Time at={at} />
      <span className={`mono text-data font-control ${received ? 'text-ok-text' : 'text-fail'}`}>{status}</span>
      <span className="min-w-0 truncate max-md:col-span-3 max-md:col-start-2 max-md:row-start-2">
        {received ? (
          <span className="text-ink-2">
            {row.forward_status === 'none' ? word : word.charAt(0).toUpperCase() + word.slice(1)}
          </span>
        ) : (
          <>
            {reason === null ? 'rejected' : CAUSES[reason].title}
            {count > 1 && <span className="text-ink-3"> ×{count}</span>}
          </>
        )}
      </span>
      <span className="mono truncate text-data text-ink-3 max-xl:col-span-2 max-xl:col-start-4 max-xl:row-start-2 max-md:col-span-3 max-md:col-start-2 max-md:row-start-3">
        {method} {content_type}
      </span>
      <span className="mono truncate text-right text-data text-ink-3 max-xl:col-start-5 max-xl:row-start-1 max-md:col-start-4">
        {source_ip}
      </span>
    </>
  )
  const look =
    'grid min-h-9 grid-cols-[14px_136px_32px_minmax(90px,1fr)_minmax(0,1fr)_minmax(90px,auto)] items-center gap-x-3 px-5 outline-offset-[-2px] hover:bg-hover max-xl:grid-cols-[14px_136px_32px_minmax(0,1fr)_auto] max-xl:py-1 max-md:grid-cols-[14px_136px_32px_minmax(0,1fr)]'
  return (
    <li className="border-b border-line/55">
      {received ? (
        <To screen="events" search={{ sel: id }} className={look}>
          {cells}
        </To>
      ) : (
        <div className={look}>{cells}</div>
      )}
    </li>
  )
}

function Nothing(): ReactElement {
  return (
    <Empty title="No requests in the last 7 days">
      Send an event to the endpoint URL. The Setup tab has commands in five languages.
    </Empty>
  )
}
