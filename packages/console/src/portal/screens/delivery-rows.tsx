import type { ReactElement } from 'react'
import { Ago } from '../../ui/ago.tsx'
import type { Delivery } from '../data/server.ts'
import { To } from '../ui/button.tsx'
import { answerText, deliverySaid, StatusGlyph } from '../ui/status.tsx'

/** Deliveries, one a line; `urlOf` names the destination where the list has several. */
export function DeliveryRows({
  of,
  urlOf,
}: {
  readonly of: readonly Delivery[]
  readonly urlOf?: (destinationId: string) => string
}): ReactElement {
  return (
    <ul aria-label="Deliveries">
      {of.map((delivery) => (
        <Row key={delivery.id} of={delivery} url={urlOf?.(delivery.destination_id)} />
      ))}
    </ul>
  )
}

function Row({ of: delivery, url }: { readonly of: Delivery; readonly url: string | undefined }): ReactElement {
  const { id, dataset, attempts, created_at } = delivery
  const said = deliverySaid(delivery)
  const answer = answerText(delivery)
  return (
    <li className="border-t border-line first:border-t-0">
      <To
        to={{ view: 'deliveries', id }}
        className="grid min-h-13 grid-cols-[14px_minmax(0,1fr)_auto] items-center gap-x-3 px-5 py-2 outline-offset-[-2px] hover:bg-hover"
      >
        <StatusGlyph of={said} />
        <span className="min-w-0">
          <span className="mono block truncate text-body text-ink">{dataset}</span>
          <span className="block truncate text-body text-ink-3">
            {said.word}
            {answer !== undefined && <> · {answer}</>}
            {attempts > 1 && <> · {attempts} attempts</>}
            {url !== undefined && <> · {url}</>}
          </span>
        </span>
        <span className="text-body whitespace-nowrap text-ink-3">
          <Ago at={created_at} />
        </span>
      </To>
    </li>
  )
}
