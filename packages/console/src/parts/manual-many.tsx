import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState, type ReactElement } from 'react'
import { usePlace, useClient } from '../data/place.ts'
import { runAll, type Progress } from '../data/run-all.ts'
import type { Delivery } from '../data/tail.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'
import { Loading, RefusedLine } from '../ui/states.tsx'
import { counted } from './text-list.ts'

export type HandVerb = 'replay' | 'retry' | 'cancel'
type Look = Pick<Delivery, 'id' | 'state' | 'destination_id'>
type State = Delivery['state']

type Props = {
  readonly verb: HandVerb
  /** Undefined while they are being read. */
  readonly deliveries: readonly Look[] | undefined
  readonly error: Error | null
  readonly nameOf: (destinationId: string) => string
  readonly onClose: () => void
}

const WORDS: Readonly<
  Record<
    HandVerb,
    {
      readonly title: string
      readonly lead: string
      readonly go: string
      readonly done: string
      readonly states: readonly State[]
    }
  >
> = {
  replay: {
    title: 'Replay selected',
    lead: 'Postroad sends the same bodies and event IDs with new signatures, on a new retry schedule.',
    go: 'Send again',
    done: 'sent again',
    states: ['failed', 'cancelled', 'delivered'],
  },
  retry: {
    title: 'Retry selected now',
    lead: 'Postroad makes the next attempt now. The attempt counts toward the retry schedule.',
    go: 'Retry',
    done: 'due now',
    states: ['pending', 'retrying'],
  },
  cancel: {
    title: 'Cancel selected',
    lead: 'Postroad stops attempting these deliveries. You can replay them later.',
    go: 'Cancel',
    done: 'canceled',
    states: ['pending', 'sending', 'retrying', 'paused'],
  },
}

/** Replays, retries or cancels many deliveries: first the plan, then one after the other. A person can stop it. */
export function ManualMany({ verb, deliveries, error, nameOf, onClose }: Props): ReactElement {
  const { title, lead, go, done, states } = WORDS[verb]
  const [withDelivered, setWithDelivered] = useState<boolean | undefined>()
  const run = useRun(verb)
  const able = deliveries?.filter(({ state }) => states.includes(state)) ?? []
  const delivered = able.filter(({ state }) => state === 'delivered').length
  const repeats = withDelivered ?? delivered === able.length
  const chosen = able.filter(({ state }) => repeats || state !== 'delivered')
  const left = (deliveries?.length ?? 0) - able.length
  return (
    <Dialog
      open
      onClose={run.isRunning ? () => undefined : onClose}
      title={title}
      lead={lead}
      actions={
        run.isRunning ? (
          <Button onClick={run.stop}>Stop</Button>
        ) : run.progress === undefined ? (
          <>
            <Button onClick={onClose}>Back</Button>
            <Button
              kind={verb === 'cancel' ? 'danger' : 'primary'}
              disabled={chosen.length === 0}
              onClick={() => run.go(chosen.map(({ id }) => id))}
            >
              {go} {chosen.length.toLocaleString('en')}
            </Button>
          </>
        ) : (
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        )
      }
    >
      {error !== null && <RefusedLine error={error} />}
      {deliveries === undefined && error === null && <Loading rows={3} height={32} />}
      {deliveries !== undefined && run.progress === undefined && (
        <div className="rounded-field bg-sunken px-3.5 py-2.5">
          <p className="font-strong">
            {chosen.length === 0
              ? 'There is nothing to do.'
              : `${counted(chosen.length, 'delivery', 'deliveries')}, to ${destinationsOf(chosen, nameOf)}`}
          </p>
          {left > 0 && (
            <p className="text-ink-3">
              {counted(left, 'delivery is', 'deliveries are')} left out: {LEFT[verb]}
            </p>
          )}
          {delivered > 0 && (
            <div className="mt-1.5">
              <Check
                label={`Include ${delivered.toLocaleString('en')} that were already accepted. Their receivers get a duplicate`}
                checked={repeats}
                onChange={({ target }) => setWithDelivered(target.checked)}
              />
            </div>
          )}
        </div>
      )}
      {run.progress !== undefined && (
        <Course progress={run.progress} total={run.total} done={done} isRunning={run.isRunning} />
      )}
      <RefusedLine error={run.error} />
    </Dialog>
  )
}

const LEFT: Readonly<Record<HandVerb, string>> = {
  replay: 'Postroad is still sending them.',
  retry: 'they are not waiting for an attempt.',
  cancel: 'they have ended.',
}
const NAMED = 3

function destinationsOf(deliveries: readonly Look[], nameOf: (id: string) => string): string {
  const names = [...new Set(deliveries.map(({ destination_id }) => nameOf(destination_id)))]
  return names.length <= NAMED
    ? names.join(', ')
    : `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`
}

function Course({
  progress: { done, refused },
  total,
  done: word,
  isRunning,
}: {
  readonly progress: Progress
  readonly total: number
  readonly done: string
  readonly isRunning: boolean
}): ReactElement {
  return (
    <div>
      <progress
        max={total}
        value={done + refused.length}
        aria-label="Progress"
        className="h-1 w-full accent-(--accent)"
      />
      <p role="status" className="mt-1">
        {done.toLocaleString('en')} of {total.toLocaleString('en')} {word}
        {!isRunning && done + refused.length < total ? '; stopped' : ''}
        {refused.length > 0 ? `, ${refused.length.toLocaleString('en')} refused:` : '.'}
      </p>
      <ul className="text-fail">
        {[...new Set(refused)].slice(0, NAMED).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  )
}

function useRun(verb: HandVerb) {
  const client = useClient()
  const { project } = usePlace()
  const asking = useQueryClient()
  const stopper = useRef<AbortController>(undefined)
  const [state, setState] = useState<{
    readonly isRunning: boolean
    readonly total: number
    readonly progress: Progress | undefined
    readonly error: Error | null
  }>({ isRunning: false, total: 0, progress: undefined, error: null })
  const go = async (ids: readonly string[]): Promise<void> => {
    stopper.current = new AbortController()
    setState({ isRunning: true, total: ids.length, progress: { done: 0, refused: [] }, error: null })
    let error: Error | null = null
    try {
      await runAll((id: string) => client.deliveries[verb]({ id }), {
        items: ids,
        signal: stopper.current.signal,
        tell: (progress) => setState((before) => ({ ...before, progress })),
      })
    } catch (failure) {
      error = failure instanceof Error ? failure : new Error(String(failure))
    }
    setState((before) => ({ ...before, isRunning: false, error }))
    await Promise.all(
      ['deliveries', 'correlate'].map((room) => asking.invalidateQueries({ queryKey: [project.id, room] })),
    )
  }
  return { ...state, go: (ids: readonly string[]) => void go(ids), stop: () => stopper.current?.abort() }
}
