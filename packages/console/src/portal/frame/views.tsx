import { useEffect, useRef, type ReactElement } from 'react'
import { usePortal } from '../data/portal.ts'
import { useRoute, type Route } from '../data/route.ts'
import { DeliveriesView } from '../screens/deliveries.tsx'
import { DeliveryView } from '../screens/delivery.tsx'
import { DestinationView } from '../screens/destination.tsx'
import { DestinationsView } from '../screens/destinations.tsx'
import { EventTypesView } from '../screens/event-types.tsx'
import { NewView } from '../screens/new.tsx'
import { To } from '../ui/button.tsx'
import { Notice } from '../ui/states.tsx'
import { SUSPENDED } from './texts.ts'

const TABS = [
  { label: 'Destinations', to: { view: 'destinations' }, views: ['destinations', 'destination', 'new'] },
  { label: 'Deliveries', to: { view: 'deliveries' }, views: ['deliveries'] },
  { label: 'Event types', to: { view: 'event-types' }, views: ['event-types'] },
] as const

/** The views of an entered portal, below the notices that apply to all of them. */
export function Views({ online }: { readonly online: boolean }): ReactElement {
  const route = useRoute()
  const { me } = usePortal()
  const content = useRef<HTMLDivElement>(null)
  const place = `${route.view} ${'id' in route ? route.id : ''}`
  const first = useRef(place)
  // A screen reader announces the new view. The first view does not take the focus.
  useEffect(() => {
    if (first.current === place) return
    first.current = ''
    content.current?.querySelector('h1')?.focus()
  }, [place])
  return (
    <>
      <nav aria-label="Main" className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
        {TABS.map(({ label, to, views }) => (
          <To
            key={label}
            to={to}
            aria-current={views.some((view) => view === route.view) ? 'page' : undefined}
            className="relative inline-flex min-h-10 items-center rounded-row px-3 first:pl-0 first:aria-[current]:after:left-0 font-strong whitespace-nowrap text-ink-3 outline-offset-[-2px] hover:text-ink aria-[current]:text-ink aria-[current]:after:absolute aria-[current]:after:inset-x-3 aria-[current]:after:bottom-[-1px] aria-[current]:after:h-0.5 aria-[current]:after:bg-accent"
          >
            {label}
          </To>
        ))}
      </nav>
      {!online && (
        <Notice tone="retry">
          You are offline. The page shows the last data that it received, and updates when you are online again.
        </Notice>
      )}
      {me.suspended && <Notice tone="retry">{SUSPENDED}</Notice>}
      <div ref={content}>
        <View key={place} route={route} />
      </div>
    </>
  )
}

function View({ route }: { readonly route: Route }): ReactElement {
  switch (route.view) {
    case 'destinations':
      return <DestinationsView />
    case 'new':
      return <NewView />
    case 'destination':
      return <DestinationView id={route.id} />
    case 'deliveries':
      return route.id === undefined ? <DeliveriesView filter={route} /> : <DeliveryView id={route.id} />
    case 'event-types':
      return <EventTypesView />
  }
}
