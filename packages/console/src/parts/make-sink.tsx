import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { useDestinations } from '../data/names.ts'
import { useMay } from '../data/place.ts'
import { Button } from '../ui/button.tsx'
import { needs } from '../ui/states.tsx'
import { useToast } from '../ui/toast.tsx'

const SAID_WHY_MAX = 300

/** Makes a destination that this server receives itself, so that a first delivery needs no receiver. */
export function MakeSink({
  kind = 'normal',
  onMade,
}: {
  readonly kind?: 'normal' | 'primary'
  readonly onMade?: (id: string) => void
}): ReactElement {
  const { all } = useDestinations()
  const may = useMay(routes.destinationSinks.create)
  const toast = useToast()
  const make = useChange(['destinations'], (client) =>
    client.destinationSinks.create({ name: freeName(new Set(all.map(({ name }) => name))) }),
  )
  return (
    <Button
      kind={kind}
      disabled={!may || make.isPending}
      title={
        may
          ? 'This server receives the deliveries, checks their signatures and shows what came'
          : needs(routes.destinationSinks.create.role)
      }
      onClick={() =>
        make.mutate(undefined, {
          onSuccess: ({ destination }) => {
            toast({ text: `${destination.name} is ready. Every new event is delivered to it.` })
            onMade?.(destination.id)
          },
          onError: (error) => toast({ text: error.message.slice(0, SAID_WHY_MAX), kind: 'fail' }),
        })
      }
    >
      Create a sink
    </Button>
  )
}

/** `Sink`, or `Sink 2` when that is taken. */
function freeName(taken: ReadonlySet<string>): string {
  let name = 'Sink'
  for (let number = 2; taken.has(name); number += 1) name = `Sink ${number}`
  return name
}
