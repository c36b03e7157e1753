import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { useRefusal } from '../data/place.ts'
import { Button } from '../ui/button.tsx'
import { useToast } from '../ui/toast.tsx'

/** Sends the next probe of an open breaker immediately. */
export function ProbeNow({
  destinationId,
  name,
}: {
  readonly destinationId: string
  /** The name of the destination, where several of these buttons are shown. */
  readonly name?: string
}): ReactElement {
  const refusal = useRefusal(routes.destinations.probe)
  const may = refusal === undefined
  const toast = useToast()
  const probe = useChange(['destinations', 'deliveries', 'correlate'], (client) =>
    client.destinations.probe({ id: destinationId }),
  )
  return (
    <Button
      disabled={!may || probe.isPending}
      title={may ? 'Sends one waiting delivery now. If it succeeds, Postroad sends the others' : refusal}
      aria-label={name === undefined ? undefined : `Probe now: ${name}`}
      onClick={() =>
        // The button can be gone when the answer arrives, and then the callbacks of `mutate` are not called.
        void probe.mutateAsync(undefined).then(
          () => toast({ text: 'Postroad is sending a probe. If it succeeds, Postroad sends the other deliveries.' }),
          (error: unknown) => toast({ text: String(error instanceof Error ? error.message : error), kind: 'fail' }),
        )
      }
    >
      Probe now
    </Button>
  )
}
