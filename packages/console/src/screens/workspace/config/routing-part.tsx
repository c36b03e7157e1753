import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { Part } from '../../../parts/detail.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Time } from '../../../ui/time.tsx'
import type { Plan } from './plan.ts'

type Routing = NonNullable<Plan['routing']>
type Payload = Routing['payloads'][number]

/** How the newest stored events would be routed differently. */
export function RoutingPart({ of }: { readonly of: Routing }): ReactElement {
  const { compared, different, unreadable, not_looked_at, payloads } = of
  return (
    <Part
      title="Routing"
      text={
        compared === 0
          ? 'There are no stored events to compare yet.'
          : different === 0
            ? `The routing of the ${counted(compared, 'newest event')} would not change.`
            : `${different.toLocaleString('en')} of the ${counted(compared, 'newest event')} would be routed differently.`
      }
    >
      {unreadable > 0 && <p className="text-ink-3">{counted(unreadable, 'event')} can no longer be read.</p>}
      {not_looked_at !== undefined && (
        <p className="text-ink-3">The comparison took too long and left out {counted(not_looked_at, 'older event')}.</p>
      )}
      <ul aria-label="Routed differently">
        {payloads.map((payload) => (
          <li key={payload.submission_id} className="border-b border-line/55 py-2 last:border-b-0">
            <To
              screen="events"
              search={{ sel: payload.submission_id }}
              className="inline-block min-h-6 leading-6 text-accent underline"
            >
              Event at <Time at={payload.received_at} />
            </To>
            <ul className="text-ink-2">
              {linesOf(payload).map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {different > payloads.length && payloads.length > 0 && (
        <p className="mt-2 text-ink-3">The list leaves out {counted(different - payloads.length, 'more event')}.</p>
      )}
    </Part>
  )
}

function linesOf({ refused_before, refused_after, records, deliveries, starts, more }: Payload): readonly string[] {
  const refused = refused_before !== refused_after
  return [
    ...(refused
      ? [
          refused_after === null
            ? `accepted, and no longer rejected (${refused_before})`
            : `rejected (${refused_after}), ${refused_before === null ? 'and no longer accepted' : `not for ${refused_before}`}`,
        ]
      : []),
    ...records.added.map(({ dataset, by }) => `+ a record in ${dataset}${by === null ? '' : ` (by ${by})`}`),
    ...records.removed.map(({ dataset, by }) => `− the record in ${dataset}${by === null ? '' : ` (by ${by})`}`),
    ...records.changed.map(({ dataset }) => `another record in ${dataset}`),
    ...deliveries.added.map(
      ({ destination, paused }) => `+ a delivery to ${destination}${paused ? ', which waits, because it is off' : ''}`,
    ),
    ...deliveries.removed.map(({ destination }) => `− the delivery to ${destination}`),
    ...deliveries.changed.map(
      ({ destination, paused }) =>
        `the delivery to ${destination} ${paused ? 'waits, because it is off' : 'has another record, or is sent'}`,
    ),
    ...starts.added.map((one) => `+ ${startOf(one)}`),
    ...starts.removed.map((one) => `− ${startOf(one)}`),
    ...starts.changed.map((one) => `another record for ${startOf(one)}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
}

const startOf = ({ kind, name, dataset }: Payload['starts']['added'][number]): string =>
  `a start of the ${kind === 'workflow' ? 'workflow' : 'AI trigger'} ${name} in ${dataset}`
