import { routes } from '@postroad/contract'
import { Check, X } from 'lucide-react'
import { useEffect, useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To, useGo } from '../../../data/go.tsx'
import { useDestinations } from '../../../data/names.ts'
import { usePlace, useRefusal } from '../../../data/place.ts'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'

const LIVE_MS = 3_000

type State = {
  /** The guide is done: a delivery has arrived, or a person closed it. */
  readonly isOver: boolean
  /** The first delivery that arrived while the page showed the guide. */
  readonly arrived: string | undefined
  readonly failed: boolean
  readonly close: () => void
}

/** This browser stores the end of the guide for each project, so that the guide does not return. */
const keyOf = (projectId: string): string => `postroad.guide.${projectId}`

function useGuide(): State {
  const { project } = usePlace()
  const [isOver, setOver] = useState(() => localStorage.getItem(keyOf(project.id)) !== null)
  const [hadNone, setHadNone] = useState(false)
  const asked = useAsk(
    ['deliveries', 'first'],
    async (client, signal) => {
      const [delivered, failed] = await Promise.all([
        client.deliveries.list({ state: 'delivered', limit: 1 }, { signal }),
        client.deliveries.list({ state: 'failed', limit: 1 }, { signal }),
      ])
      return { delivered: delivered.deliveries[0], failed: failed.deliveries.length > 0 }
    },
    { enabled: !isOver, everyMs: LIVE_MS },
  )
  const { data } = asked
  if (data !== undefined && data.delivered === undefined && !hadNone) setHadNone(true)
  const close = (): void => {
    localStorage.setItem(keyOf(project.id), 'over')
    setOver(true)
  }
  // A project that delivers already does not need the guide.
  const wasDone = data?.delivered !== undefined && !hadNone
  useEffect(() => {
    if (wasDone) localStorage.setItem(keyOf(project.id), 'over')
  }, [wasDone, project.id])
  return {
    isOver: isOver || data === undefined || wasDone,
    arrived: data?.delivered?.record_id,
    failed: data?.failed === true,
    close,
  }
}

/** The rest of the first run: it stays above the events until the first delivery has arrived. */
export function Guide({ onSend }: { readonly onSend: () => void }): ReactElement | null {
  const { isOver, arrived, failed, close } = useGuide()
  const { all, isKnown } = useDestinations()
  const go = useGo()
  const refusal = useRefusal(routes.destinations.create)
  const may = refusal === undefined
  if (isOver || !isKnown) return null
  const [first] = all
  const at = arrived !== undefined ? 3 : first === undefined ? 1 : 2
  return (
    <section aria-label="First steps" className="mb-2 border-b border-line bg-accent-soft px-[18px] py-2.5">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
        <ol className="flex flex-wrap items-center gap-x-4 gap-y-1">
          {['Capture an event', 'Create a destination', 'Deliver an event'].map((title, index) => (
            <li
              key={title}
              {...(index === at ? { 'aria-current': 'step' as const } : {})}
              className={`flex items-center gap-1.5 ${index < at ? 'text-ok-text' : index === at ? 'font-strong text-accent' : 'text-ink-3'}`}
            >
              {index < at ? <Check className="size-3.5" strokeWidth={2} aria-label="Done" /> : `${index + 1}.`} {title}
            </li>
          ))}
        </ol>
        <div className="ml-auto flex items-center gap-2">
          {at === 1 && (
            <>
              <MakeSink kind="primary" />
              <Button disabled={!may} title={refusal} onClick={() => go('destinations', { new: '1' })}>
                New destination
              </Button>
            </>
          )}
          {at === 2 && (
            <Button kind="primary" onClick={onSend}>
              Send an event
            </Button>
          )}
          <IconButton label="Close guide" onClick={close}>
            <X strokeWidth={1.5} />
          </IconButton>
        </div>
      </div>
      <p role="status" className="mt-1 max-w-[88ch] text-ink-2">
        {at === 1 &&
          'Your events are stored. Postroad signs each new event and delivers it to every destination. A sink is a destination on this server. It needs no setup, so the first delivery succeeds.'}
        {at === 2 && !failed && `New events are delivered to ${first?.name ?? ''}. Send one to see it arrive.`}
        {at === 2 && failed && (
          <>
            A delivery has failed, and none has succeeded yet.{' '}
            <To screen="deliveries" search={{ state: 'failed' }} className="text-accent underline">
              See why
            </To>
            , or create a sink to see one arrive.
          </>
        )}
        {at === 3 && (
          <>
            The first delivery has arrived.{' '}
            <To screen="events" search={{ sel: arrived, tab: 'deliveries' }} className="text-accent underline">
              See the request and response
            </To>
            .
          </>
        )}
      </p>
      {at === 2 && failed && (
        <div className="mt-1.5">
          <MakeSink />
        </div>
      )}
    </section>
  )
}
