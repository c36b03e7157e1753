import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useGo } from '../../../data/go.tsx'
import { useAllDestinations } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { CommandBlock } from '../../../parts/command-line.tsx'
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
      deliveries. A sink receives events on this server and shows them. To receive events on your machine, run this and
      add a destination for the address that it prints:
      <CommandBlock command={cli('sink')} />
    </Empty>
  )
}
