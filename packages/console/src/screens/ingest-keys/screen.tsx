import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { every } from '../../parts/every.ts'
import { ResourceScreen, type ResourceSearch } from '../../parts/resource-screen.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty, needs } from '../../ui/states.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { IngestKeyDetail } from './detail.tsx'
import type { IngestKey } from './draft.ts'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: IngestKey) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: IngestKey) => !enabled },
  { id: 'unused', label: 'Never used', has: ({ last_used_at }: IngestKey) => last_used_at === null },
] as const

/** Ingest keys: what one's own programs send events with. */
export function Screen(): ReactElement {
  const [, setSearch] = useSearchState<ResourceSearch>()
  const { project } = usePlace()
  const may = useMay(routes.ingestKeys.create)
  const asked = useAsk(['ingestKeys', 'all'], (client, signal) => every(client.ingestKeys.list({ limit: 200 }, { signal })))
  const [isCreating, setCreating] = useState(false)
  const refused = may ? undefined : needs(routes.ingestKeys.create.role)
  return (
    <ResourceScreen
      title="Ingest keys"
      one="ingest key"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, shown_prefix, datasets }) => [id, name, shown_prefix, ...(datasets ?? [])].join(' ')}
      create={{ label: 'New ingest key', open: setCreating, refused }}
      commands={[{ label: 'Copy the list as curl', text: adminCurl({ project, path: 'ingest-keys' }) }]}
      detail={IngestKeyDetail}
      never={
        <Empty title="There is no ingest key yet" actions={<Button kind="primary" hotkey="N" disabled={!may} title={refused} onClick={() => setCreating(true)}>New ingest key</Button>}>
          Endpoints are for senders that want a URL of their own. A key is for your programs: it sends into any dataset, lets the rules decide, and reads the stream. From a terminal:
          <code className="mono mt-3 block rounded-field bg-block px-4 py-2.5 text-left text-block-ink break-words whitespace-pre-wrap select-all">{adminCurl({ method: 'POST', project, path: 'ingest-keys', body: { name: 'Checkout' } })}</code>
        </Empty>
      }
    >
      {isCreating && (
        <CreateDialog
          onClose={() => setCreating(false)}
          onMade={(sel) => {
            setCreating(false)
            setSearch({ sel, q: undefined, view: undefined })
          }}
        />
      )}
    </ResourceScreen>
  )
}
