import { Plus } from 'lucide-react'
import type { ReactElement } from 'react'
import { useAsk, usePortal } from '../data/portal.ts'
import type { Destination } from '../data/server.ts'
import { To, ToButton } from '../ui/button.tsx'
import { Head } from '../ui/head.tsx'
import { Blank, Card, Notice, RefusedNotice, Skeleton } from '../ui/states.tsx'
import { destinationSaid, StatusChip } from '../ui/status.tsx'

const POLL_MS = 30_000

/** The destinations of the customer. */
export function DestinationsView(): ReactElement {
  const { me, refused } = usePortal()
  const asked = useAsk(['destinations', 'list'], (server, signal) => server.destinations(signal), { everyMs: POLL_MS })
  const destinations = asked.data?.destinations
  const isFull = destinations !== undefined && destinations.length >= me.destinations_max
  return (
    <>
      <Head
        title="Destinations"
        text="The URLs that receive your events."
        actions={
          destinations !== undefined &&
          destinations.length > 0 &&
          refused === undefined &&
          !isFull && <AddDestination />
        }
      />
      {isFull && (
        <Notice tone="info">
          You have {me.destinations_max} destinations, which is the maximum. Delete one to add another.
        </Notice>
      )}
      <RefusedNotice error={asked.error} again={asked.refetch} />
      {destinations === undefined ? (
        asked.error === null && <Skeleton />
      ) : destinations.length === 0 ? (
        <Blank title="No destinations yet" actions={refused === undefined && <AddDestination />}>
          Add the URL that receives your events. Each event is signed and sent to it as a POST request. Failed
          deliveries are retried.
        </Blank>
      ) : (
        <Card>
          <ul aria-label="Destinations">
            {destinations.map((destination) => (
              <Row key={destination.id} of={destination} />
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}

function AddDestination(): ReactElement {
  return (
    <ToButton kind="primary" to={{ view: 'new' }}>
      <Plus strokeWidth={2} aria-hidden />
      Add destination
    </ToButton>
  )
}

function Row({ of: destination }: { readonly of: Destination }): ReactElement {
  const { id, url, description, event_types, last_24_hours } = destination
  return (
    <li className="border-b border-line last:border-b-0">
      <To
        to={{ view: 'destination', id }}
        className="grid min-h-16 grid-cols-[minmax(0,1fr)_auto] max-sm:grid-cols-1 items-center gap-x-4 gap-y-1 px-5 py-3 outline-offset-[-2px] hover:bg-hover"
      >
        <span className="min-w-0">
          <span className="mono block truncate text-body text-ink">{url}</span>
          <span className="block truncate text-body text-ink-3">
            {description !== null && description !== '' && <>{description} · </>}
            {typesText(event_types)}
          </span>
        </span>
        <span className="flex items-center gap-4 max-sm:flex-wrap max-sm:gap-x-3 max-sm:gap-y-1">
          <span className="text-body whitespace-nowrap text-ink-3">{dayText(last_24_hours)}</span>
          <StatusChip of={destinationSaid(destination)} />
        </span>
      </To>
    </li>
  )
}

/** The event types of a destination, in a few words. */
export function typesText(types: readonly string[] | null): string {
  if (types === null) return 'All event types'
  const [first = '', ...others] = types
  return others.length === 0 ? first : `${first} and ${others.length} more`
}

function dayText({ succeeded, failed }: Destination['last_24_hours']): string {
  if (succeeded + failed === 0) return 'No attempts in the last 24 hours'
  return failed === 0
    ? `${succeeded.toLocaleString('en')} delivered in the last 24 hours`
    : `${failed.toLocaleString('en')} of ${(succeeded + failed).toLocaleString('en')} failed in the last 24 hours`
}
