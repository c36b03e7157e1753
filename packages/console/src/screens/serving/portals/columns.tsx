import type { ReactElement } from 'react'
import type { Portal } from '../../../data/lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Chip, Glyph } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'

const STATE: Column<Portal> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: ({ enabled }) => <Glyph tone={enabled === 1 ? 'ok' : 'paused'} label={enabled === 1 ? 'on' : 'off'} />,
}
const NAME: Column<Portal> = {
  id: 'name',
  label: 'Portal',
  width: 'minmax(160px,1.4fr)',
  plain: true,
  cell: ({ name, slug }) => <TwoLines top={name} below={<span className="mono">{slug}</span>} />,
}

export const COLUMNS: readonly Column<Portal>[] = [
  STATE,
  NAME,
  {
    id: 'customers',
    label: 'Customers',
    width: '120px',
    cell: ({ customer_count }) => <span className="text-ink-2">{customer_count.toLocaleString('en')}</span>,
  },
  {
    id: 'datasets',
    label: 'Datasets',
    width: 'minmax(120px,1fr)',
    cell: ({ datasets }) => (
      <span className={`block truncate ${datasets === null ? 'text-ink-2' : 'mono text-data'}`}>
        {datasets?.join(', ') ?? 'all datasets'}
      </span>
    ),
  },
  {
    id: 'frames',
    label: 'Embedding sites',
    width: 'minmax(120px,1fr)',
    cell: ({ frame_origins }) => (
      <span className={`block truncate ${frame_origins.length === 0 ? 'text-ink-3' : 'mono text-data'}`}>
        {frame_origins.length === 0 ? 'none' : frame_origins.join(', ')}
      </span>
    ),
  },
  {
    id: 'created',
    label: 'Created',
    width: '116px',
    align: 'right',
    cell: ({ created_at }) => (
      <span className="text-ink-3">
        <Ago at={created_at} />
      </span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '92px',
    align: 'right',
    cell: ({ enabled }) => (enabled === 1 ? <span className="text-ink-3">on</span> : <StateChip isOn={false} />),
  },
]

export const SLIM: readonly Column<Portal>[] = [STATE, NAME]

export function StateChip({ isOn }: { readonly isOn: boolean }): ReactElement {
  return <Chip tone={isOn ? 'ok' : 'paused'}>{isOn ? 'on' : 'off'}</Chip>
}
