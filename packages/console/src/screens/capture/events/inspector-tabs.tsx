import type { RouteAnswer, Routes } from '@postroad/contract'
import type { DeliveryLit } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { useDestinations } from '../../../data/names.ts'
import { toneOf, stateWord } from '../../../data/tone.ts'
import { AttemptRequest } from '../../../parts/attempt-request.tsx'
import { WaitsLine } from '../../../parts/waits-line.tsx'
import { AttemptAnswer, AttemptOutcome, AttemptPart, HeaderList } from '../../../ui/attempt.tsx'
import { Chip, Glyph } from '../../../ui/glyph.tsx'
import { Loading, Refused } from '../../../ui/states.tsx'
import { bytes, Time, took } from '../../../ui/time.tsx'
import { stepsOf, type Story } from './path.ts'

type OfRaw = {
  readonly submission: RouteAnswer<Routes['submissions']['get']>['submission'] | undefined
  readonly error: Error | null
  readonly again: () => unknown
}

export function HeadersTab({ submission }: { readonly submission: Story['submission'] }): ReactElement {
  return (
    <div className="px-5 py-3">
      {submission.method !== null && (
        <p className="mono mb-2 text-data wrap-anywhere text-ink-2">
          {submission.method}
          {submission.query !== null && ` ?${submission.query}`}
        </p>
      )}
      <RepeatLines submission={submission} />
      <HeaderList of={submission.headers} />
      <p className="mt-3 text-data text-ink-3">
        Query string and headers as received. Postroad masks credentials before it stores them.
      </p>
    </div>
  )
}

function RepeatLines({ submission }: { readonly submission: Story['submission'] }): ReactElement {
  const { duplicates, key_reused } = submission
  return (
    <>
      {duplicates > 0 && (
        <p className="mb-2 text-ink-2">
          Repeated {duplicates === 1 ? 'once' : `${duplicates.toLocaleString('en')} times`}. Postroad answered each
          repeat with this event.
        </p>
      )}
      {key_reused && <p className="mb-2 text-ink-2">An earlier event has the same key and another body.</p>}
    </>
  )
}

export function DeliveriesTab({ story }: { readonly story: Story }): ReactElement {
  const { nameOf } = useDestinations()
  if (story.deliveries.length === 0)
    return <p className="px-5 py-4 text-ink-3">No destination receives this event. The Routing tab shows the reason.</p>
  return (
    <>
      {story.deliveries.map((delivery) => (
        <DeliveryPart key={delivery.id} delivery={delivery} name={nameOf(delivery.destination_id)} />
      ))}
    </>
  )
}

function DeliveryPart({ delivery, name }: OfDelivery): ReactElement {
  const asked = useDelivery(delivery)
  return (
    <section>
      <DeliveryHead id={delivery.id} name={name} of={asked.data?.delivery ?? delivery} />
      {asked.error !== null && <Refused error={asked.error} again={asked.refetch} />}
      {asked.data === undefined && asked.error === null && <Loading rows={2} height={36} />}
      {asked.data !== undefined && <WaitsLine delivery={asked.data.delivery} />}
      {asked.data?.delivery.attempts.map((attempt, index, { length }) => (
        <AttemptPart key={attempt.id} attempt={attempt} isOpen={index === length - 1}>
          <AttemptRequest attempt={attempt} />
        </AttemptPart>
      ))}
    </section>
  )
}

/** The last answer of each destination, those that did not accept the event first. */
export function ResponseTab({ story }: { readonly story: Story }): ReactElement {
  const { nameOf } = useDestinations()
  if (story.deliveries.length === 0)
    return <p className="px-5 py-4 text-ink-3">No destination receives this event, so there is no response.</p>
  return (
    <>
      {story.deliveries
        .toSorted((a, b) => Number(a.state === 'delivered') - Number(b.state === 'delivered'))
        .map((delivery) => (
          <LastResponse key={delivery.id} delivery={delivery} name={nameOf(delivery.destination_id)} />
        ))}
    </>
  )
}

function LastResponse({ delivery, name }: OfDelivery): ReactElement {
  const asked = useDelivery(delivery)
  const last = asked.data?.delivery.attempts.findLast(({ outcome }) => outcome !== null)
  return (
    <section aria-label={`Response of ${name}`}>
      <DeliveryHead id={delivery.id} name={name} of={asked.data?.delivery ?? delivery} />
      {asked.error !== null && <Refused error={asked.error} again={asked.refetch} />}
      {asked.data === undefined && asked.error === null && <Loading rows={2} height={36} />}
      {asked.data !== undefined && last === undefined && (
        <p className="border-b border-line px-5 py-3 text-ink-3">There is no response yet.</p>
      )}
      {last !== undefined && (
        <div className="border-b border-line px-5 py-3">
          <p className="mb-2 flex flex-wrap items-center gap-x-3">
            <AttemptOutcome of={last} />
            <span className="text-ink-3">
              {last.outcome === 'interrupted'
                ? 'No response: the attempt was interrupted.'
                : `attempt ${last.number}${last.duration_ms === null ? '' : `, ${took(last.duration_ms)}`}`}
            </span>
            <Time at={last.started_at} />
          </p>
          <AttemptAnswer of={last} />
        </div>
      )}
    </section>
  )
}

type OfDelivery = { readonly delivery: Story['deliveries'][number]; readonly name: string }

/** One delivery with the answers that its attempts got; both tabs share one read. */
function useDelivery({ id, state }: OfDelivery['delivery']) {
  return useAsk(['deliveries', 'get', id, state], (client, signal) => client.deliveries.get({ id }, { signal }), {
    keep: true,
  })
}

function DeliveryHead({
  id,
  name,
  of,
}: {
  readonly id: string
  readonly name: string
  readonly of: DeliveryLit
}): ReactElement {
  return (
    <div className="flex h-9 items-center gap-3 border-b border-line bg-sunken px-5">
      <h3 className="flex min-w-0 items-center gap-2 font-strong">
        <span className="truncate">{name}</span>
        <Chip tone={toneOf(of)}>{stateWord(of)}</Chip>
      </h3>
      <To
        screen="deliveries"
        search={{ sel: id }}
        className="ml-auto inline-flex min-h-6 flex-none items-center text-data text-accent underline"
      >
        Open the delivery
      </To>
    </div>
  )
}

/** Every rule, criterion and destination, and the decision of each. */
export function RoutingTab({ story }: { readonly story: Story }): ReactElement {
  const missed = stepsOf(story, (id) => id).filter((step) => step.missed === true)
  const { criteria, rules = [], destinations } = story.submission.decision
  const matched = [
    ...(criteria?.matched === true ? ['Endpoint criteria'] : []),
    ...rules.filter((rule) => rule.matched).map(({ rule }) => `Rule ${rule}`),
    ...destinations.filter((one) => one.matched).map(({ destination }) => `Destination ${destination}`),
  ]
  return (
    <div className="px-5 py-3">
      <h3 className="mb-1 font-strong">Matched</h3>
      {matched.length === 0 && <p className="text-ink-3">Nothing.</p>}
      <ul>
        {matched.map((name, index) => (
          <li key={index} className="flex min-h-7 items-center gap-2">
            <Glyph tone="ok" label="matched" />
            {name}
          </li>
        ))}
      </ul>
      <h3 className="mt-4 mb-1 font-strong">Did not match</h3>
      {missed.length === 0 && <p className="text-ink-3">No other rule or destination was checked.</p>}
      <ul>
        {missed.map((step) => (
          <li key={step.id} className="flex min-h-7 items-center gap-2">
            <Glyph tone="rejected" label="not matched" />
            <span className="font-control">{step.title}</span>
            <span className="text-ink-3">{step.text}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The body byte by byte, when it is text. */
export function RawTab({ whole: { submission, error, again } }: { readonly whole: OfRaw }): ReactElement {
  if (submission === undefined) return error === null ? <Loading rows={3} /> : <Refused error={error} again={again} />
  if (submission.body === null)
    return (
      <p className="px-5 py-4 text-ink-3">
        The body is {bytes(submission.body_bytes)} that are not text. The base64 form starts with{' '}
        <code className="mono break-all text-ink-2">{submission.body_base64?.slice(0, 400)}</code>
      </p>
    )
  return (
    <pre
      tabIndex={0}
      aria-label="Body as received"
      className="mono h-full overflow-auto px-5 py-3 text-data whitespace-pre-wrap break-all"
    >
      {submission.body}
    </pre>
  )
}
