import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllDataKeys, type DataKey } from '../../../data/serving-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { CommandLine } from '../../../parts/command-line.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { Light } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Expiry } from './expiry.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { DataKeyDetail } from './detail.tsx'
import { keyLight } from './draft.ts'

const STATE: Column<DataKey> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={keyLight(row)} />,
}
const NAME: Column<DataKey> = {
  id: 'name',
  label: 'Key',
  width: 'minmax(140px,1.4fr)',
  plain: true,
  cell: ({ name, shown_prefix }) => <TwoLines top={name} below={<span className="mono">{shown_prefix}…</span>} />,
}

const COLUMNS: readonly Column<DataKey>[] = [
  STATE,
  NAME,
  {
    id: 'datasets',
    label: 'Reads',
    width: 'minmax(120px,1.2fr)',
    cell: ({ datasets }) =>
      datasets === null ? (
        <span className="text-ink-2">all datasets</span>
      ) : (
        <span className="mono truncate text-data text-ink-2" title={datasets.join(', ')}>
          {datasets.join(', ')}
        </span>
      ),
  },
  {
    id: 'rate',
    label: 'Requests per 10 s',
    width: '112px',
    align: 'right',
    cell: ({ requests_per_10_seconds }) => (
      <span className="mono text-data text-ink-2">{requests_per_10_seconds.toLocaleString('en')}</span>
    ),
  },
  {
    id: 'from',
    label: 'From',
    width: 'minmax(90px,150px)',
    cell: ({ ip_allowlist }) =>
      ip_allowlist.length === 0 ? (
        <span className="text-ink-3">any address</span>
      ) : (
        <span className="mono truncate text-data text-ink-2" title={ip_allowlist.join(', ')}>
          {ip_allowlist.join(', ')}
        </span>
      ),
  },
  {
    id: 'expires',
    label: 'Expires',
    width: '100px',
    align: 'right',
    cell: (row) => <Expiry of={row} />,
  },
  {
    id: 'used',
    label: 'Last used',
    width: '100px',
    align: 'right',
    cell: ({ last_used_at }) =>
      last_used_at === null ? (
        <span className="text-ink-3">never</span>
      ) : (
        <span className="text-data text-ink-2">
          <Ago at={last_used_at} />
        </span>
      ),
  },
]

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'active', label: 'Active', has: ({ status }: DataKey) => status === 'active' },
  { id: 'expired', label: 'Expired', has: ({ status }: DataKey) => status === 'expired' },
  { id: 'unused', label: 'Never used', has: ({ last_used_at }: DataKey) => last_used_at === null },
] as const

/** Data API keys: programs read stored records with them. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Data API"
      one="key"
      asked={useAllDataKeys()}
      columns={COLUMNS}
      slim={[STATE, NAME]}
      views={VIEWS}
      textOf={({ id, name, shown_prefix, datasets }) => [id, name, shown_prefix, ...(datasets ?? [])].join(' ')}
      create={{ label: 'New key', route: routes.dataKeys.create, dialog: CreateDialog, tab: 'use' }}
      path="data-keys"
      detail={DataKeyDetail}
      never={{
        title: 'No Data API keys yet',
        text: (
          <>
            Programs use Data API keys to read stored records over HTTP as JSON, CSV or Parquet. The keys have no other
            permissions. To create a key in a terminal, run:
            <CommandLine words="data-keys create --name Warehouse" />
          </>
        ),
      }}
    />
  )
}
