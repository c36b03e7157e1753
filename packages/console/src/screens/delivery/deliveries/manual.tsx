import { routes } from '@postroad/contract'
import { holdText } from '@postroad/contract/holds'
import { Ban, RotateCw } from 'lucide-react'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import type { Delivery } from '../../../data/tail.ts'
import { Button } from '../../../ui/button.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Verb = 'replay' | 'retry' | 'cancel'
type Looks = Pick<Delivery, 'id' | 'state' | 'held_by'>

const SAID: Readonly<Record<Exclude<Verb, 'retry'>, string>> = {
  replay: 'Postroad is sending the delivery again.',
  cancel: 'The delivery is canceled. You can replay it.',
}

/** The result of a retry. The destination may still hold the delivery back. */
function retriedText({ held_by }: Pick<Delivery, 'held_by'>): string {
  if (held_by === null) return 'The delivery is due now. Postroad sends it as soon as the destination has capacity.'
  if (held_by.cause === 'breaker_open')
    return 'The delivery is due now, but the circuit breaker of its destination is open. Postroad sends it after a probe succeeds. Use “Probe now” to try immediately.'
  return `The delivery is due now, but ${holdText(held_by)}. Postroad sends it as soon as that ends.`
}

/** The manual action for the state of a delivery: replay a delivery that has ended, retry a waiting one early. */
const SENT_BY: Readonly<Record<Delivery['state'], 'replay' | 'retry' | undefined>> = {
  pending: 'retry',
  retrying: 'retry',
  sending: undefined,
  paused: undefined,
  delivered: 'replay',
  failed: 'replay',
  cancelled: 'replay',
}

export type ManualActions = {
  readonly isRunning: boolean
  readonly send: (delivery: Looks) => void
  readonly cancel: (delivery: Looks) => void
}

/** The actions on one delivery. The server decides, because the delivery may have changed since the list was read. */
export function useManualActions(): ManualActions {
  const toast = useToast()
  const change = useChange(
    ['deliveries', 'correlate'],
    (client, { id, verb }: { readonly id: string; readonly verb: Verb }) => client.deliveries[verb]({ id }),
  )
  const go = (id: string, verb: Verb): void =>
    change.mutate(
      { id, verb },
      {
        onSuccess: ({ delivery }) => toast({ text: verb === 'retry' ? retriedText(delivery) : SAID[verb] }),
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
              ? 'The delivery is paused. Postroad sends it when the reason no longer applies.'
              : 'Postroad is sending the delivery now.',
          kind: 'fail',
        })
      else go(id, verb)
    },
    cancel: ({ id }) => go(id, 'cancel'),
  }
}

/** The buttons of one delivery. */
export function ManualButtons({
  delivery,
  manual: { isRunning, send, cancel },
}: {
  readonly delivery: Looks
  readonly manual: ManualActions
}): ReactElement {
  const refusal = useRefusal(routes.deliveries.replay)
  const may = refusal === undefined
  const mayCancelRefusal = useRefusal(routes.deliveries.cancel)
  const mayCancel = mayCancelRefusal === undefined
  const verb = SENT_BY[delivery.state]
  return (
    <>
      {verb !== undefined && (
        <Button
          kind="primary"
          hotkey="R"
          icon={<RotateCw strokeWidth={1.5} />}
          disabled={!may || isRunning}
          title={may ? titleOf(verb, delivery) : refusal}
          onClick={() => send(delivery)}
        >
          {verb === 'replay' ? 'Replay' : 'Retry now'}
        </Button>
      )}
      {verb !== 'replay' && (
        <Button
          icon={<Ban strokeWidth={1.5} />}
          disabled={!mayCancel || isRunning}
          title={mayCancel ? 'Postroad stops attempting this delivery' : mayCancelRefusal}
          onClick={() => cancel(delivery)}
        >
          Cancel
        </Button>
      )}
    </>
  )
}

function titleOf(verb: 'replay' | 'retry', { held_by }: Looks): string {
  if (verb === 'replay') return 'Sends the event again now, with the same body and event ID'
  return held_by === null
    ? 'Makes the next attempt now. The attempt counts toward the schedule'
    : `Makes the delivery due now, but ${holdText(held_by)}, so it still waits`
}
