import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import type { Destination } from '../../../data/lists.ts'
import { toneOf, stateWord } from '../../../data/tone.ts'
import { LastAnswer, NextStep } from '../../../parts/held.tsx'
import { StartFields } from '../../../parts/payload-fields.tsx'
import { counted } from '../../../parts/text-list.ts'
import type { ListedDelivery } from '../../../data/tail.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { HealthPart } from './health-part.tsx'

const SHOWN = 50
const POLL_MS = 5_000

/** The health of a destination and its newest deliveries, with a link to all of them. */
export function DeliveriesTab({ destination }: { readonly destination: Destination }): ReactElement {
  return (
    <>
      <HealthPart id={destination.id} />
      <Newest destination={destination} />
    </>
  )
}

function Newest({ destination: { id, enabled } }: { readonly destination: Destination }): ReactElement {
  const asked = useAsk(
    ['deliveries', 'of', id],
    (client, signal) => client.deliveries.list({ destination_id: id, limit: SHOWN }, { signal }),
    { everyMs: POLL_MS },
  )
  const deliveries = asked.data?.deliveries
  if (deliveries === undefined)
    return asked.error === null ? <Loading rows={8} /> : <Refused error={asked.error} again={asked.refetch} />
  if (deliveries.length === 0)
    return (
      <Empty
        title="Nothing has been sent here yet"
        actions={
          <ButtonLink screen="events" hasArrow>
            Send an event
          </ButtonLink>
        }
      >
        {enabled
          ? 'Postroad delivers the next matching event immediately.'
          : 'The destination is off. Postroad sends nothing until you turn it on.'}
      </Empty>
    )
  return (
    <>
      <ul aria-label="Newest deliveries">
        {deliveries.map((delivery) => (
          <Row key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      <p className="flex items-center gap-3 px-5 py-3 text-ink-3">
        The newest {deliveries.length}.
        <ButtonLink screen="deliveries" search={{ destination: id }} hasArrow>
          All deliveries
        </ButtonLink>
        <ButtonLink screen="deliveries" search={{ destination: id, state: 'failed' }} hasArrow>
          Failed deliveries
        </ButtonLink>
      </p>
    </>
  )
}

function Row({
  delivery: { id, state, created_at, dataset, event, last_status, last_error, attempt_count, next_attempt_at, held_by },
}: {
  readonly delivery: ListedDelivery
}): ReactElement {
  return (
    <li className="border-b border-line/55">
      <To
        screen="deliveries"
        search={{ sel: id }}
        className="grid h-9 grid-cols-[14px_minmax(96px,auto)_minmax(80px,1fr)_minmax(60px,auto)_110px_24px] items-center gap-3 px-5 outline-offset-[-2px] hover:bg-hover max-md:grid-cols-[14px_auto_minmax(0,1fr)_auto_auto] max-md:gap-2"
      >
        <Glyph tone={toneOf({ state, held_by })} label={stateWord({ state, held_by })} />
        <Time at={created_at} />
        <span className="flex min-w-0 items-baseline gap-2.5">
          <span className="max-w-full flex-none truncate font-control">{event.title ?? dataset}</span>
          {event.title !== null && (
            <span className="mono min-w-0 truncate text-data text-ink-3 max-md:hidden">{dataset}</span>
          )}
          <span className="min-w-0 flex-1 max-xl:hidden">
            <StartFields start={event.payload_start} title={event.title ?? undefined} />
          </span>
        </span>
        <span className="min-w-0 truncate text-data">
          <LastAnswer of={{ last_status, last_error, state, attempt_count }} />
        </span>
        <span className="flex min-w-0 text-ink-3">
          <NextStep of={{ state, next_attempt_at, held_by }} />
        </span>
        <span className="mono text-right text-meta text-ink-3 max-md:hidden" title={counted(attempt_count, 'attempt')}>
          {attempt_count > 1 && `×${attempt_count}`}
        </span>
      </To>
    </li>
  )
}
