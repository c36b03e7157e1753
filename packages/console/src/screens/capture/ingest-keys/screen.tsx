import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllIngestKeys, type IngestKey } from '../../../data/lists.ts'
import { CommandLine } from '../../../parts/command-line.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { IngestKeyDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: IngestKey) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: IngestKey) => !enabled },
  { id: 'unused', label: 'Never used', has: ({ last_used_at }: IngestKey) => last_used_at === null },
] as const

/** Ingest keys: the credentials of your own programs. */
export function Screen(): ReactElement {
  const asked = useAllIngestKeys()
  return (
    <ResourceScreen
      title="Ingest keys"
      one="ingest key"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, shown_prefix, datasets }) => [id, name, shown_prefix, ...(datasets ?? [])].join(' ')}
      create={{ label: 'New ingest key', route: routes.ingestKeys.create, dialog: CreateDialog }}
      path="ingest-keys"
      detail={IngestKeyDetail}
      never={{
        title: 'No ingest keys yet',
        text: (
          <>
            Use endpoints for senders that need a separate URL. Use ingest keys for your own programs, to send events
            into any dataset or through the rules, and to read the stream. To create a key in a terminal, run:
            <CommandLine words="ingest-keys create --name Checkout" />
          </>
        ),
      }}
    />
  )
}
