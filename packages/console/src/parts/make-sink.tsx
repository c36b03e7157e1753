import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { useDestinations } from '../data/names.ts'
import { useRefusal } from '../data/place.ts'
import { Button } from '../ui/button.tsx'
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
  const refusal = useRefusal(routes.destinationSinks.create)
  const may = refusal === undefined
  const toast = useToast()
  const make = useChange(['destinations'], (client) =>
    client.destinationSinks.create({ name: freeName(new Set(all.map(({ name }) => name))) }),
  )
  return (
    <Button
      kind={kind}
      disabled={!may || make.isPending}
      title={may ? 'This server receives the deliveries, checks their signatures and shows them' : refusal}
      onClick={() =>
        make.mutate(undefined, {
          onSuccess: ({ destination }) => {
            toast({ text: `${destination.name} is ready. Postroad delivers every new event to it.` })
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
