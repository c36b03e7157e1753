import { endpointLight } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import type { Webhook } from '../../../data/lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Chip, Light, NONE } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { SCHEMES } from '../../../parts/schemes.ts'
import { counted } from '../../../parts/text-list.ts'
import { RecentActivity } from './recent-activity.tsx'
import { useActivity } from './use-activity.ts'

const STATE: Column<Webhook> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={endpointLight(row)} />,
}
const NAME: Column<Webhook> = {
  id: 'name',
  label: 'Endpoint',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: (row) => <TwoLines top={row.name} below={<span className="mono">{masked(row)}</span>} />,
}

export const COLUMNS: readonly Column<Webhook>[] = [
  STATE,
  NAME,
  {
    id: 'dataset',
    label: 'Writes to',
    width: 'minmax(80px,1fr)',
    cell: ({ dataset }) => <span className="mono block truncate text-data text-ink-2">{dataset}</span>,
  },
  { id: 'scheme', label: 'Verification', width: 'minmax(120px,1fr)', cell: (row) => <SchemeText of={row} /> },
  { id: 'recent', label: 'Last 20', width: '122px', cell: ({ id }) => <RecentActivity id={id} /> },
  { id: 'received', label: '24 h', width: '64px', align: 'right', cell: ({ id }) => <Counts id={id} of="received" /> },
  {
    id: 'rejected',
    label: 'Rejected',
    width: '64px',
    align: 'right',
    cell: ({ id }) => <Counts id={id} of="rejected" />,
  },
  { id: 'last', label: 'Last received', width: '96px', align: 'right', cell: ({ id }) => <Last id={id} /> },
  {
    id: 'chip',
    label: 'Status',
    width: 'minmax(88px,150px)',
    align: 'right',
    cell: (row) =>
      endpointLight(row).tone === 'ok' && row.previous_url_expires_at === null ? (
        <span className="text-ink-3">on</span>
      ) : (
        <StateChip of={row} />
      ),
  },
]

export const SLIM: readonly Column<Webhook>[] = [STATE, NAME]

/** The URL without its credential: only the first six characters of its last part. */
export function masked({ public_path, webhook_slug }: Pick<Webhook, 'public_path' | 'webhook_slug'>): string {
  return `${public_path.slice(0, public_path.length - webhook_slug.length)}${webhook_slug.slice(0, 6)}…`
}

export function StateChip({ of }: { readonly of: Webhook }): ReactElement {
  const { previous_url_expires_at } = of
  const { tone, word, text } = endpointLight(of)
  const chip = (
    <span title={text}>
      <Chip tone={tone}>{of.enabled ? word : 'off (503)'}</Chip>
    </span>
  )
  if (tone !== 'ok') return chip
  if (previous_url_expires_at !== null)
    return (
      <span className="text-data text-retry-text">
        previous URL expires <Countdown to={previous_url_expires_at} />
      </span>
    )
  return chip
}

function SchemeText({ of: { verification, ip_allowlist } }: { readonly of: Webhook }): ReactElement {
  if (verification.scheme === 'none')
    return (
      <span className="text-ink-3">
        {ip_allowlist.length === 0
          ? SCHEMES.none.label
          : `No signature, ${counted(ip_allowlist.length, 'address', 'addresses')}`}
      </span>
    )
  if (verification.has_secret !== true) return <span className="text-fail">No secret (401)</span>
  return <span className="text-ink-2">{SCHEMES[verification.scheme].label}</span>
}

function Counts({ id, of }: { readonly id: string; readonly of: 'received' | 'rejected' }): ReactElement {
  const count = useActivity(id)?.summary[of]
  if (count === undefined) return NONE
  return (
    <span className={`mono text-data ${of === 'rejected' && count > 0 ? 'text-fail' : 'text-ink-2'}`}>
      {count.toLocaleString('en')}
    </span>
  )
}

function Last({ id }: { readonly id: string }): ReactElement {
  const at = useActivity(id)?.summary.last_received_at ?? null
  if (at === null) return NONE
  return (
    <span className="text-ink-3">
      <Ago at={at} />
    </span>
  )
}
