import { routes } from '@postroad/contract'
import { destinationLight } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import { useAllDestinations, type Destination } from '../../../data/lists.ts'
import { CommandBlock } from '../../../parts/command-line.tsx'
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
        title: 'No destinations yet',
        also: <MakeSink />,
        text: (
          <>
            A destination receives your events: a webhook URL, a queue, a database or a chat. Postroad retries failed
            deliveries. To receive events on your machine, run this and add a destination for the address that it
            prints:
            <CommandBlock command={cli('sink')} />
          </>
        ),
      }}
    />
  )
}
