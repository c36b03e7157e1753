import { routes } from '@postroad/contract'
import { destinationLight } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import { useAllDestinations, type Destination } from '../../../data/lists.ts'
import { cli } from '../../../parts/commands.ts'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { DestinationDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: Destination) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: Destination) => !enabled },
  {
    id: 'trouble',
    label: 'With problems',
    has: (row: Destination) => !['ok', 'paused'].includes(destinationLight(row).tone),
  },
] as const

/** Destinations: the receivers of events. */
export function Screen(): ReactElement {
  const asked = useAllDestinations()
  return (
    <ResourceScreen
      title="Destinations"
      one="destination"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, url, datasets }) => [id, name, url, ...(datasets ?? [])].join(' ')}
      create={{ label: 'New destination', route: routes.destinations.create, dialog: CreateDialog }}
      path="destinations"
      detail={DestinationDetail}
      never={{
        title: 'Nothing is delivered yet',
        also: <MakeSink />,
        text: (
          <>
            A destination is a URL. Postroad posts signed events to it and retries failed deliveries. A sink is a
            destination on this server. To receive deliveries on your machine, run
            <code className="mono mt-3 block rounded-field bg-block px-4 py-2.5 text-left text-block-ink select-all">
              {cli('sink')}
            </code>
          </>
        ),
      }}
    />
  )
}
