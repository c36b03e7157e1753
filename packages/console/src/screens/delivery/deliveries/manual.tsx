import { routes } from '@postroad/contract'
import { holdText } from '@postroad/contract/holds'
import { Ban, RotateCw } from 'lucide-react'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useMay } from '../../../data/place.ts'
import type { Delivery } from '../../../data/tail.ts'
import { Button } from '../../../ui/button.tsx'
import { needs } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Verb = 'replay' | 'retry' | 'cancel'
type Looks = Pick<Delivery, 'id' | 'state' | 'held_by'>

const SAID: Readonly<Record<Exclude<Verb, 'retry'>, string>> = {
  replay: 'Postroad sends it again now.',
  cancel: 'It is cancelled. You can replay it.',
}

/** The result of a retry. The destination may still hold the delivery back. */
function retriedText({ held_by }: Pick<Delivery, 'held_by'>): string {
  if (held_by === null) return 'It is due now. Postroad sends it as soon as its destination has room.'
  if (held_by.cause === 'breaker_open')
    return 'It is due now, but the breaker of its destination is open: Postroad sends it after a probe has succeeded. Use “Probe now” to try at once.'
  return `It is due now, but ${holdText(held_by)}. Postroad sends it as soon as that ends.`
}

/** The manual action for the state of a delivery: replay one that has ended, retry early one that waits. */
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
              ? 'It is paused. Postroad sends it when the reason has ended.'
              : 'Postroad is sending it at this moment.',
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
          title={may ? titleOf(verb, delivery) : needs(routes.deliveries.replay.role)}
          onClick={() => send(delivery)}
        >
          {verb === 'replay' ? 'Replay' : 'Retry now'}
        </Button>
      )}
      {verb !== 'replay' && (
        <Button
          icon={<Ban strokeWidth={1.5} />}
          disabled={!mayCancel || isRunning}
          title={mayCancel ? 'Postroad makes no further attempt' : needs(routes.deliveries.cancel.role)}
          onClick={() => cancel(delivery)}
        >
          Cancel
        </Button>
      )}
    </>
  )
}

function titleOf(verb: 'replay' | 'retry', { held_by }: Looks): string {
  if (verb === 'replay') return 'Sends it again now, with the same body and event id'
  return held_by === null
    ? 'Makes its next attempt now; it counts in the schedule'
    : `Makes it due now, but ${holdText(held_by)}: it still waits for that`
}
