import type { ReactElement } from 'react'
import { useAsk } from '../data/portal.ts'
import { Head } from '../ui/head.tsx'
import { Blank, Card, RefusedNotice, Skeleton } from '../ui/states.tsx'

/** The event types that a destination can receive. */
export function EventTypesView(): ReactElement {
  const asked = useAsk(['event-types'], (server, signal) => server.eventTypes(signal))
  const types = asked.data?.event_types
  return (
    <>
      <Head title="Event types" text="A destination receives all event types, or only the ones that you choose." />
      <RefusedNotice error={asked.error} again={asked.refetch} />
      {types === undefined ? (
        asked.error === null && <Skeleton rows={6} height={48} />
      ) : types.length === 0 ? (
        <Blank title="No event types yet">Event types appear here with their first event.</Blank>
      ) : (
        <Card>
          <ul aria-label="Event types">
            {types.map(({ name, description }) => (
              <li key={name} className="border-b border-line px-5 py-3 last:border-b-0">
                <span className="mono block text-body break-all">{name}</span>
                {description !== null && <span className="block break-words text-ink-3">{description}</span>}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}
