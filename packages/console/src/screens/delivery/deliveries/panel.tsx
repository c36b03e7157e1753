import { X } from 'lucide-react'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { toneOf, stateWord } from '../../../data/tone.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { AttemptRequest } from '../../../parts/attempt-request.tsx'
import { useCopyItems } from '../../../parts/copy-as.tsx'
import { PanelState } from '../../../parts/panel-state.tsx'
import { WaitsLine } from '../../../parts/waits-line.tsx'
import { useKeys } from '../../../shell/keys.ts'
import { AttemptPart } from '../../../ui/attempt.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { CopyButton, useCopy } from '../../../ui/copy.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { JsonTree } from '../../../ui/json-tree.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { ManualButtons, type ManualActions } from './manual.tsx'

type Props = {
  readonly id: string
  readonly onClose: () => void
  readonly manual: ManualActions
  readonly nameOf: (id: string) => string
}

const LIVE_MS = 5_000

/** One delivery: its status, and every attempt with the receiver's answer. */
export function DeliveryPanel({ id, onClose, manual, nameOf }: Props): ReactElement {
  const asked = useAsk(['deliveries', 'get', id], (client, signal) => client.deliveries.get({ id }, { signal }), {
    everyMs: LIVE_MS,
  })
  const delivery = asked.data?.delivery
  const copy = useCopy()
  const copyId = (): void => void copy(id, 'ID copied')
  // The panel reads it, because a link can open a delivery that the list does not show.
  useKeys({ r: delivery === undefined ? undefined : () => manual.send(delivery), y: copyId })
  const calls = useCopyItems({ path: `deliveries/${id}` })
  if (delivery === undefined) return <PanelState label="Delivery" asked={asked} onClose={onClose} />
  return (
    <section aria-label="Delivery" className="flex min-h-0 min-w-0 flex-col border-l border-line">
      <header className="py-3 pr-3.5 pl-5">
        <div className="flex items-center gap-2">
          <h2 className="truncate text-title">{nameOf(delivery.destination_id)}</h2>
          <Chip tone={toneOf(delivery)}>{stateWord(delivery)}</Chip>
          <span className="flex-1" />
          <IconButton label="Close" onClick={onClose}>
            <X strokeWidth={1.5} />
          </IconButton>
        </div>
        <div className="mono mt-px flex min-h-6 flex-wrap items-center gap-x-3.5 text-meta text-ink-3">
          <CopyButton text={delivery.id} label="Copy delivery ID" className="text-ink-2">
            {delivery.id}
          </CopyButton>
          <CopyButton text={delivery.record_id} label="Copy event ID">
            {delivery.record_id}
          </CopyButton>
          {delivery.event.title !== null && <span className="truncate">{delivery.event.title}</span>}
          <Time at={delivery.created_at} />
        </div>
        <div className="mt-2 flex flex-wrap gap-2">
          <ManualButtons delivery={delivery} manual={manual} />
          <ButtonLink screen="events" search={{ sel: delivery.record_id }} hasArrow>
            Open the event
          </ButtonLink>
          <ButtonLink screen="destinations" search={{ sel: delivery.destination_id }} hasArrow>
            Open the destination
          </ButtonLink>
          <MoreMenu
            items={[
              ...calls,
              { label: 'Copy ID', hint: 'y', go: copyId },
              { label: 'Copy link', go: () => void copy(location.href, 'Link copied') },
            ]}
          />
        </div>
      </header>
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        tabIndex={0}
        role="group"
        aria-label="Attempts"
      >
        <WaitsLine delivery={delivery} />
        {delivery.attempts.toReversed().map((attempt, index) => (
          <AttemptPart key={attempt.id} attempt={attempt} isOpen={index === 0}>
            <AttemptRequest attempt={attempt} />
          </AttemptPart>
        ))}
        {delivery.attempts.length === 0 && <p className="px-5 py-4 text-ink-3">Nothing has been sent yet.</p>}
        <Payload recordId={delivery.record_id} dataset={delivery.dataset} />
      </div>
    </section>
  )
}

/** The payload of the event, digit for digit. */
function Payload({ recordId, dataset }: { readonly recordId: string; readonly dataset: string }): ReactElement | null {
  const asked = useAsk(['records', 'get', recordId], (client, signal) =>
    client.records.get({ id: recordId }, { signal }),
  )
  const text = asked.data?.record.data_text
  if (asked.error !== null) return <Refused error={asked.error} again={asked.refetch} />
  if (text === undefined || text === null) return null
  return (
    <section aria-label="Event payload" className="border-t border-line">
      <h3 className="flex h-9 items-center gap-2 bg-sunken px-5 font-strong">
        Event payload <span className="mono text-data font-control text-ink-3">{dataset}</span>
      </h3>
      <JsonTree text={text} label="Payload" />
    </section>
  )
}
