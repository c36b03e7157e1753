import type { RouteAnswer, Routes } from '@postroad/contract'
import { destinationLight } from '@postroad/contract/lights'
import type { ReactElement, ReactNode } from 'react'
import { To } from '../../../data/go.tsx'
import { Glyph, Light } from '../../../ui/glyph.tsx'

type Summary = RouteAnswer<Routes['dashboard']['summary']>['summary']

/** The destinations where most attempts failed, each with the way to its deliveries. */
export function Failing({ of }: { readonly of: Summary['failing_destinations'] }): ReactElement {
  return (
    <List title="Where it fails" none="Every attempt succeeded.">
      {of.map(({ destination_id, name, failed, delivered, ...destination }) => (
        <li key={destination_id}>
          <To
            screen="deliveries"
            search={{ destination: destination_id }}
            className="flex h-9 items-center gap-2.5 border-b border-line/55 hover:bg-hover"
          >
            <Light of={destinationLight(destination)} />
            <span className="truncate font-control">{name}</span>
            <span className="mono ml-auto text-data text-fail">{failed}</span>
            <span className="mono w-24 text-right text-data text-ink-3">of {failed + delivered}</span>
          </To>
        </li>
      ))}
    </List>
  )
}

/** Refused requests by cause. */
export function Causes({ of, range }: { readonly of: Summary['rejections']; readonly range: string }): ReactElement {
  return (
    <List title="Why requests were refused" none="No request was refused.">
      {of.map(({ reason, count }) => (
        <li key={reason}>
          <To
            screen="rejections"
            search={{ sel: reason, range: range === '' ? undefined : range }}
            className="flex h-9 items-center gap-2.5 border-b border-line/55 hover:bg-hover"
          >
            <Glyph standing="rejected" />
            <span className="truncate">{reason.replaceAll('_', ' ')}</span>
            <span className="mono ml-auto text-data text-ink-2">{count}</span>
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
