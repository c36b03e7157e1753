import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Dataset } from '../../../data/serving-lists.ts'
import { useMay } from '../../../data/place.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { CopyMeta, Part } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip } from '../../../ui/glyph.tsx'
import { DriftTab } from './drift-tab.tsx'
import { draftOfDataset, settingsOf } from './draft.ts'
import { ExportTab } from './export-tab.tsx'
import { SchemaTab } from './schema-tab.tsx'
import { SettingsFields } from './settings-fields.tsx'

const TABS = [
  { id: 'schema', label: 'Schema', of: SchemaTab },
  { id: 'drift', label: 'Drift', of: DriftTab },
  { id: 'export', label: 'Export', of: ExportTab },
  { id: 'settings', label: 'Settings', of: Settings },
] as const

/** One dataset: the fields of its records, how they changed, its files and its retention. */
export function DatasetDetail({
  row: dataset,
  onClose,
}: {
  readonly row: Dataset
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.datasets.update)
  const { of: Tab } = useTab(TABS)
  const { id, name, last_record_at, retention_days } = dataset
  return (
    <ResourceDetail
      label="Dataset"
      name={name}
      path={`datasets/${id}`}
      chip={<Chip tone="none">{retention_days === null ? 'default retention' : counted(retention_days, 'day')}</Chip>}
      onClose={onClose}
      meta={
        <>
          <span>
            {last_record_at === null ? (
              'no records'
            ) : (
              <>
                last record <Ago at={last_record_at} />
              </>
            )}
          </span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <ButtonLink screen="events" search={{ dataset: name }}>
          Show the events
        </ButtonLink>
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: `Postroad erases its records and their completed deliveries within minutes. A record with open deliveries is erased when they complete. The next event that is stored in ${name} creates the dataset again.`,
        may,
        rooms: ['datasets', 'records'],
        run: (client) => client.datasets.remove({ id }),
      }}
    >
      <Tab dataset={dataset} />
    </ResourceDetail>
  )
}

function Settings({ dataset }: { readonly dataset: Dataset }): ReactElement {
  const form = useSaveForm({
    held: draftOfDataset(dataset),
    read: settingsOf,
    route: routes.datasets.update,
    rooms: ['datasets'],
    send: (client, body) => client.datasets.update({ id: dataset.id, ...body }),
    countsFrom: 'now. A shorter retention erases older records within minutes',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Description and retention">
        <SettingsFields {...fieldsOf(form)} />
      </Part>
    </SaveForm>
  )
}
