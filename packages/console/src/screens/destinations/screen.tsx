import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import type { Destination } from '../../data/names.ts'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl, cli } from '../../parts/commands.ts'
import { every } from '../../parts/every.ts'
import { ResourceScreen, type ResourceSearch } from '../../parts/resource-screen.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty, needs } from '../../ui/states.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { DestinationDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: Destination) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: Destination) => !enabled },
] as const

/** Destinations: where events are delivered to. */
export function Screen(): ReactElement {
  const [, setSearch] = useSearchState<ResourceSearch>()
  const { project } = usePlace()
  const may = useMay(routes.destinations.create)
  const asked = useAsk(['destinations', 'all'], (client, signal) => every(client.destinations.list({ limit: 200 }, { signal })))
  const [isCreating, setCreating] = useState(false)
  const refused = may ? undefined : needs(routes.destinations.create.role)
  return (
    <ResourceScreen
      title="Destinations"
      one="destination"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, url, datasets }) => [id, name, url, ...(datasets ?? [])].join(' ')}
      create={{ label: 'New destination', open: setCreating, refused }}
      commands={[
        { label: 'Copy the list as curl', text: adminCurl({ project, path: 'destinations' }) },
        { label: 'Copy the list as a CLI command', text: cli('destinations list') },
      ]}
      detail={DestinationDetail}
      never={
        <Empty title="Nothing is delivered yet" actions={<Button kind="primary" hotkey="N" disabled={!may} title={refused} onClick={() => setCreating(true)}>New destination</Button>}>
          A destination is a URL that events are posted to: signed, and tried again until they arrive. From a terminal:
          <code className="mono mt-3 block rounded-field bg-block px-4 py-2.5 text-left text-block-ink select-all">{cli('destinations create http://127.0.0.1:3000/ --name receiver')}</code>
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
