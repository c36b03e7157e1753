import { X } from 'lucide-react'
import type { ReactElement } from 'react'
import { useWebhooks } from '../../../data/names.ts'
import type { Rejection } from '../../../data/tail.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { CAUSES } from '../../../parts/causes.ts'
import { RefusedSamplePart } from '../../../parts/refused-sample.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { Time } from '../../../ui/time.tsx'

/** Rejected requests: their count, their address, the remedy, and a sample. */
export function RejectionPanel({
  rejection,
  onClose,
}: {
  readonly rejection: Rejection
  readonly onClose: () => void
}): ReactElement {
  const { all, nameOf } = useWebhooks()
  const { reason, status, count, at, source_ip, method, content_type, remedy, webhook_id } = rejection
  const webhook = all.find(({ id }) => id === webhook_id)
  const facts: readonly (readonly [string, string])[] = [
    ['Endpoint', webhook_id === null ? 'an ingest key' : nameOf(webhook_id)],
    ['Answered', String(status)],
    ['From', source_ip ?? 'unknown'],
    ['Method', method],
    ['Content type', content_type ?? 'none'],
  ]
  return (
    <section
      aria-label="Rejected requests"
      className="flex min-h-0 min-w-0 flex-col border-l border-line max-lg:border-l-0"
    >
      <header className="flex flex-wrap items-center gap-2 py-3 pr-3.5 pl-5">
        <h2 className="text-title max-md:basis-[calc(100%-44px)] md:truncate">{CAUSES[reason].title}</h2>
        <span className="max-md:order-1">
          <Chip tone="rejected">{count === 1 ? 'rejected once' : `rejected ${count} times`}</Chip>
        </span>
        <span className="flex-1 max-md:hidden" />
        <IconButton label="Close" onClick={onClose}>
          <X strokeWidth={1.5} />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto border-t border-line px-5 py-4">
        <p className="mb-4 max-w-[52ch] text-lead">{remedy}</p>
        <p className="mb-4">
          <ButtonLink screen="rejections" search={{ sel: reason }} hasArrow>
            All requests rejected for this reason
          </ButtonLink>
        </p>
        <dl>
          <div className="flex min-h-7 items-center gap-3">
            <dt className="w-28 text-ink-3">Last</dt>
            <dd>
              <Time at={at} />
            </dd>
          </div>
          {facts.map(([name, value]) => (
            <div key={name} className="flex min-h-7 items-center gap-3">
              <dt className="w-28 text-ink-3">{name}</dt>
              <dd className="break-all">{value}</dd>
            </div>
          ))}
        </dl>
        {webhook !== undefined && (
          <section aria-label="Sample" className="mt-4">
            <h3 className="mb-1 font-strong">The last request rejected for this reason</h3>
            <RefusedSamplePart webhook={webhook} reason={reason} />
          </section>
        )}
        <p className="mt-4 text-ink-3">Postroad groups requests by minute and reason.</p>
      </div>
    </section>
  )
}
