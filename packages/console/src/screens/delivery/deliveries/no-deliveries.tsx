import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useGo } from '../../../data/go.tsx'
import { useAllDestinations } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { cli } from '../../../parts/commands.ts'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { Button } from '../../../ui/button.tsx'
import { Empty } from '../../../ui/states.tsx'

/** No delivery at all: the way to the first one. */
export function NoDeliveries(): ReactElement {
  const go = useGo()
  const refusal = useRefusal(routes.destinations.create)
  const may = refusal === undefined
  const { data } = useAllDestinations()
  if (data !== undefined && data.length > 0)
    return (
      <Empty
        title="Nothing has been delivered yet"
        actions={
          <Button kind="primary" onClick={() => go('events')}>
            Go to the events
          </Button>
        }
      >
        Postroad delivers each new event to the destinations that match it. Send an event to see a delivery here.
      </Empty>
    )
  return (
    <Empty
      title="Nothing has been delivered yet"
      actions={
        <>
          <Button kind="primary" disabled={!may} title={refusal} onClick={() => go('destinations', { new: '1' })}>
            New destination
          </Button>
          <MakeSink />
        </>
      }
    >
      There is no destination yet. Postroad signs each new event, sends it to your destinations, and retries failed
      deliveries. To receive on your machine, run this, and add a destination for the address that it prints:
      <code className="mono mt-3 block rounded-field bg-block px-4 py-2.5 text-left text-block-ink select-all">
        {cli('sink')}
      </code>
    </Empty>
  )
}
