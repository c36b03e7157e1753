import type { ReactElement } from 'react'
import type { IngestKey } from '../../../data/lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip, Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { scopesText } from './form.tsx'

const STATE: Column<IngestKey> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: ({ enabled }) => <Glyph tone={enabled ? 'ok' : 'paused'} label={enabled ? 'on' : 'off'} />,
}
const NAME: Column<IngestKey> = {
  id: 'name',
  label: 'Key',
  width: 'minmax(140px,1.4fr)',
  plain: true,
  cell: (row) => <TwoLines top={row.name} below={<span className="mono">{masked(row)}</span>} />,
}

export const COLUMNS: readonly Column<IngestKey>[] = [
  STATE,
  NAME,
  {
    id: 'scopes',
    label: 'Scopes',
    width: '110px',
    cell: ({ scopes }) => <span className="text-ink-2">{scopesText(scopes)}</span>,
  },
  {
    id: 'datasets',
    label: 'Datasets',
    width: 'minmax(100px,1fr)',
    cell: ({ datasets }) => (
      <span className={`block truncate ${datasets === null ? 'text-ink-2' : 'mono text-data'}`}>
        {datasets?.join(', ') ?? 'all datasets'}
      </span>
    ),
  },
  { id: 'guards', label: 'Protection', width: 'minmax(120px,1fr)', cell: (row) => <Guards of={row} /> },
  {
    id: 'used',
    label: 'Last used',
    width: '116px',
    align: 'right',
    cell: ({ last_used_at }) => (
      <span className="text-ink-3">{last_used_at === null ? 'never' : <Ago at={last_used_at} />}</span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '92px',
    align: 'right',
    cell: ({ enabled }) => (enabled ? <span className="text-ink-3">on</span> : <StateChip enabled={false} />),
  },
]

export const SLIM: readonly Column<IngestKey>[] = [STATE, NAME]

/** The stored part of a key, which identifies it. */
export function masked({ shown_prefix }: Pick<IngestKey, 'shown_prefix'>): string {
  return `${shown_prefix}…`
}

export function StateChip({ enabled }: { readonly enabled: boolean }): ReactElement {
  return <Chip tone={enabled ? 'ok' : 'paused'}>{enabled ? 'on' : 'off (503)'}</Chip>
}

function Guards({ of: { require_signature, ip_allowlist } }: { readonly of: IngestKey }): ReactElement {
  const guards = [
    ...(require_signature ? ['signature'] : []),
    ...(ip_allowlist.length > 0 ? [counted(ip_allowlist.length, 'address', 'addresses')] : []),
  ]
  return guards.length === 0 ? (
    <span className="text-ink-3">key only</span>
  ) : (
    <span className="block truncate text-ink-2">{guards.join(', ')}</span>
  )
}
