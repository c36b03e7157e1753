import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useGo } from '../../../data/go.tsx'
import { useAllDestinations } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { cli } from '../../../parts/commands.ts'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { Button } from '../../../ui/button.tsx'
import { Empty, needs } from '../../../ui/states.tsx'

/** No delivery at all: the way to the first one. */
export function NoDeliveries(): ReactElement {
  const go = useGo()
  const may = useMay(routes.destinations.create)
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
        Each new event that a destination matches is delivered to it. Send an event to see it here.
      </Empty>
    )
  return (
    <Empty
      title="Nothing has been delivered yet"
      actions={
        <>
          <Button
            kind="primary"
            disabled={!may}
            title={may ? undefined : needs(routes.destinations.create.role)}
            onClick={() => go('destinations', { new: '1' })}
          >
            New destination
          </Button>
          <MakeSink />
        </>
      }
    >
      There is no destination yet. A destination gets each new event, signed, and retried until it arrives. To receive
      deliveries on your machine, run
      <code className="mono mt-3 block rounded-field bg-block px-4 py-2.5 text-left text-block-ink select-all">
        {cli('sink')}
      </code>
    </Empty>
  )
}
