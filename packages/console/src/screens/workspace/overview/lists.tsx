import type { RouteAnswer, Routes } from '@postroad/contract'
import { isOff, TROUBLE_CAUSES } from '@postroad/contract/holds'
import { destinationLight } from '@postroad/contract/lights'
import { ArrowRight } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { To } from '../../../data/go.tsx'
import { useHolds, type DeliveryHold } from '../../../data/holds.ts'
import { CAUSES } from '../../../parts/causes.ts'
import { Glyph, Light } from '../../../ui/glyph.tsx'
import { flowsOf } from './map/flows.ts'
import type { MapAnswer } from './map/map-answer.ts'

type Summary = RouteAnswer<Routes['dashboard']['summary']>['summary']

const SHOWN_MAX = 8

/** The destinations with failed attempts in the range, and those that hold deliveries back now, each with the way to its deliveries. */
export function Failing({ of }: { readonly of: Summary['failing_destinations'] }): ReactElement {
  const holds = (useHolds().data?.holds ?? []).filter((hold) => TROUBLE_CAUSES.has(hold.cause) || isOff(hold))
  const others = holds.filter(({ destination_id }) => of.every((one) => one.destination_id !== destination_id))
  const heldBy = (id: string): number => holds.find(({ destination_id }) => destination_id === id)?.deliveries ?? 0
  const lines = [
    ...of.map(({ destination_id, name, failed, delivered, ...destination }) => (
      <FailingLine
        key={destination_id}
        id={destination_id}
        name={name}
        light={<Light of={destinationLight(destination)} />}
        held={heldBy(destination_id)}
        counts={{ failed, all: failed + delivered }}
      />
    )),
    ...others.map(({ destination_id, name, deliveries, cause }) => (
      <FailingLine
        key={destination_id}
        id={destination_id}
        name={name}
        light={<Glyph tone={toneOf(cause)} label={cause === 'destination_off' ? 'off' : 'has waiting deliveries'} />}
        held={deliveries}
        isOff={cause === 'destination_off'}
      />
    )),
  ]
  return (
    <List
      title="Destinations with deliveries that fail or wait"
      none="No destination has deliveries that fail or wait."
    >
      {lines.length <= SHOWN_MAX
        ? lines
        : [
            ...lines.slice(0, SHOWN_MAX - 1),
            <li key="more">
              <To screen="destinations" className="flex h-9 items-center pl-[22px] text-ink-3 hover:bg-hover">
                {`${lines.length - SHOWN_MAX + 1} more`}
              </To>
            </li>,
          ]}
    </List>
  )
}

function toneOf(cause: DeliveryHold['cause']): 'paused' | 'retry' | 'fail' {
  if (cause === 'destination_off') return 'paused'
  return cause === 'breaker_recovering' ? 'retry' : 'fail'
}

function FailingLine({
  id,
  name,
  light,
  held,
  isOff: off = false,
  counts,
}: {
  readonly id: string
  readonly name: string
  readonly light: ReactElement
  readonly held: number
  readonly isOff?: boolean
  readonly counts?: { readonly failed: number; readonly all: number }
}): ReactElement {
  return (
    <li>
      <To
        screen="deliveries"
        search={{ destination: id }}
        className="flex min-h-9 items-center gap-2.5 border-b border-line/55 hover:bg-hover"
      >
        {light}
        <span className="min-w-0 truncate font-control">{name}</span>
        {held > 0 && (
          <span className="text-data text-ink-3">
            {off && 'off · '}
            {held.toLocaleString('en')} held back
          </span>
        )}
        {counts !== undefined && (
          <span className="mono ml-auto text-data whitespace-nowrap text-ink-3">
            <span className="text-fail">{counts.failed.toLocaleString('en')} failed</span> of{' '}
            {counts.all.toLocaleString('en')}
          </span>
        )}
      </To>
    </li>
  )
}

/** Rejected requests by cause, the most frequent first. */
export function Causes({ of, range }: { readonly of: Summary['rejections']; readonly range: string }): ReactElement {
  return (
    <List title="Rejection reasons" none="No requests were rejected.">
      {of
        .toSorted((a, b) => b.count - a.count)
        .map(({ reason, count }) => (
          <li key={reason}>
            <To
              screen="rejections"
              search={{ sel: reason, range: range === '' ? undefined : range }}
              className="flex h-9 items-center gap-2.5 border-b border-line/55 hover:bg-hover"
            >
              <Glyph tone="rejected" />
              <span className="truncate">{CAUSES[reason].title}</span>
              <span className="mono ml-auto text-data text-ink-2">{count.toLocaleString('en')}</span>
            </To>
          </li>
        ))}
    </List>
  )
}

const BUSIEST_MAX = 8

/** The ways by which the most events came in the time that the map shows. */
export function Busiest({ map }: { readonly map: MapAnswer }): ReactElement {
  const span = { from: Date.parse(map.from), to: Date.parse(map.to) }
  const flows = flowsOf(map, { span, isPast: true }).filter(
    ({ part, events }) => part === 'To rules and datasets' && events !== null && events > 0,
  )
  return (
    <List title="Most events" none="No events arrived.">
      {flows
        .toSorted((a, b) => (b.events ?? 0) - (a.events ?? 0))
        .slice(0, BUSIEST_MAX)
        .map(({ key, from, to, events, target }) => (
          <li key={key}>
            <To {...target} className="flex h-9 items-center gap-2 border-b border-line/55 hover:bg-hover">
              <span className="min-w-0 truncate font-control">{from}</span>
              <ArrowRight className="size-3 flex-none text-ink-3" aria-label="to" />
              <span className="min-w-0 truncate">{to}</span>
              <span className="mono ml-auto text-data text-ink-2">{(events ?? 0).toLocaleString('en')}</span>
            </To>
          </li>
        ))}
    </List>
  )
}

function List({
  title,
  none,
  children,
}: {
  readonly title: string
  readonly none: string
  readonly children: readonly ReactNode[]
}): ReactElement {
  return (
    <section className="px-[18px] py-5">
      <h2 className="mb-2 font-title">{title}</h2>
      {children.length === 0 ? <p className="text-ink-3">{none}</p> : <ul>{children}</ul>}
    </section>
  )
}
