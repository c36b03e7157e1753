import { routes } from '@postroad/contract'
import { Ban, RotateCw } from 'lucide-react'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useMay } from '../../../data/place.ts'
import type { Delivery } from '../../../data/tail.ts'
import { Button } from '../../../ui/button.tsx'
import { needs } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Verb = 'replay' | 'retry' | 'cancel'
type Looks = Pick<Delivery, 'id' | 'state'>

const SAID: Readonly<Record<Verb, string>> = {
  replay: 'It is sent again now.',
  retry: 'It is due now, and sent as soon as its destination has room.',
  cancel: 'It is cancelled. It can be replayed.',
}

/** How a delivery is sent by hand in its state: one that has ended anew, one that waits before its time. */
const SENT_BY: Readonly<Record<Delivery['state'], 'replay' | 'retry' | undefined>> = {
  pending: 'retry',
  retrying: 'retry',
  sending: undefined,
  paused: undefined,
  delivered: 'replay',
  failed: 'replay',
  cancelled: 'replay',
}

export type ByHand = {
  readonly isRunning: boolean
  readonly send: (delivery: Looks) => void
  readonly cancel: (delivery: Looks) => void
}

/** What a person does with one delivery. The server decides: it may have gone on since the list was read. */
export function useByHand(): ByHand {
  const toast = useToast()
  const change = useChange(
    ['deliveries', 'correlate'],
    (client, { id, verb }: { readonly id: string; readonly verb: Verb }) => client.deliveries[verb]({ id }),
  )
  const go = (id: string, verb: Verb): void =>
    change.mutate(
      { id, verb },
      {
        onSuccess: () => toast({ text: SAID[verb] }),
        onError: (error) => toast({ text: error.message, kind: 'fail' }),
      },
    )
  return {
    isRunning: change.isPending,
    send: ({ id, state }) => {
      const verb = SENT_BY[state]
      if (verb === undefined)
        toast({
          text:
            state === 'paused'
              ? 'It is paused, and goes on by itself when what holds it has ended.'
              : 'It is being sent at this moment.',
          kind: 'fail',
        })
      else go(id, verb)
    },
    cancel: ({ id }) => go(id, 'cancel'),
  }
}

/** The buttons of one delivery. */
export function ByHandButtons({
  delivery,
  byHand: { isRunning, send, cancel },
}: {
  readonly delivery: Looks
  readonly byHand: ByHand
}): ReactElement {
  const may = useMay(routes.deliveries.replay)
  const mayCancel = useMay(routes.deliveries.cancel)
  const verb = SENT_BY[delivery.state]
  return (
    <>
      {verb !== undefined && (
        <Button
          kind="primary"
          hotkey="R"
          icon={<RotateCw strokeWidth={1.5} />}
          disabled={!may || isRunning}
          title={may ? TITLES[verb] : needs(routes.deliveries.replay.role)}
          onClick={() => send(delivery)}
        >
          {verb === 'replay' ? 'Replay' : 'Retry now'}
        </Button>
      )}
      {verb !== 'replay' && (
        <Button
          icon={<Ban strokeWidth={1.5} />}
          disabled={!mayCancel || isRunning}
          title={mayCancel ? 'Nothing more is sent of it' : needs(routes.deliveries.cancel.role)}
          onClick={() => cancel(delivery)}
        >
          Cancel
        </Button>
      )}
    </>
  )
}

const TITLES = {
  replay: 'Sends it again now, with the same body and event id',
  retry: 'Makes its next attempt now; it counts in the schedule',
} as const
