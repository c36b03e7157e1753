import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllDatasets, type Dataset } from '../../../data/serving-lists.ts'
import { NONE } from '../../../ui/glyph.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { CommandLine } from '../../../parts/command-line.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { counted } from '../../../parts/text-list.ts'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { DatasetDetail } from './detail.tsx'

const NAME: Column<Dataset> = {
  id: 'name',
  label: 'Dataset',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: ({ name, description }) => (
    <TwoLines top={<span className="mono text-data">{name}</span>} below={description ?? ''} />
  ),
}

const moment = (at: string | null): ReactElement =>
  at === null ? (
    NONE
  ) : (
    <span className="text-data text-ink-2">
      <Ago at={at} />
    </span>
  )

const COLUMNS: readonly Column<Dataset>[] = [
  NAME,
  {
    id: 'last',
    label: 'Last record',
    width: '120px',
    align: 'right',
    cell: ({ last_record_at }) => moment(last_record_at),
  },
  {
    id: 'retention',
    label: 'Retention',
    width: 'minmax(110px,160px)',
    align: 'right',
    cell: ({ retention_days }) => (
      <span className="text-data text-ink-2">
        {retention_days === null ? 'default' : counted(retention_days, 'day')}
      </span>
    ),
  },
  { id: 'created', label: 'Created', width: '110px', align: 'right', cell: ({ created_at }) => moment(created_at) },
]

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'retention', label: 'Custom retention', has: ({ retention_days }: Dataset) => retention_days !== null },
  { id: 'empty', label: 'Empty', has: ({ last_record_at }: Dataset) => last_record_at === null },
] as const

/** Datasets: named sets of records, with the schema that Postroad learned. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Datasets"
      one="dataset"
      asked={useAllDatasets()}
      columns={COLUMNS}
      slim={[NAME]}
      views={VIEWS}
      textOf={({ id, name, description }) => [id, name, description ?? ''].join(' ')}
      create={{ label: 'New dataset', route: routes.datasets.create, dialog: CreateDialog }}
      path="datasets"
      detail={DatasetDetail}
      never={{
        title: 'No datasets yet',
        text: (
          <>
            Postroad creates a dataset with the first event that names it, and learns the fields from its records. To
            create a dataset in advance, run:
            <CommandLine words="datasets create --name orders" />
          </>
        ),
      }}
    />
  )
}
