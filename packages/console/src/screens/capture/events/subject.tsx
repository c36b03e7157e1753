import { X } from 'lucide-react'
import type { ReactElement } from 'react'
import { CopyButton } from '../../../ui/copy.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { Time } from '../../../ui/time.tsx'
import type { Answer } from './path.ts'

type Kind = Answer['subject']['kind']

const KINDS: Readonly<Record<Kind, string>> = {
  submission: 'Submission',
  record: 'Event',
  delivery: 'Delivery',
  attempt: 'Attempt',
  rejection: 'Rejected requests',
  webhook: 'Endpoint',
  recordView: 'Record view',
  dataset: 'Dataset',
  rule: 'Rule',
  ingestKey: 'Ingest key',
  source: 'Source',
  cronTrigger: 'Cron trigger',
  wsTrigger: 'WebSocket trigger',
  destination: 'Destination',
  replay: 'Replay',
  workflow: 'Workflow',
  workflowInstance: 'Workflow instance',
  aiAgent: 'AI agent',
  aiTrigger: 'AI trigger',
  aiRun: 'AI run',
  project: 'Project',
}

type Props = {
  readonly answer: Answer
  readonly onOpen: (id: string) => void
  readonly onClose: () => void
}

/** The thing of an id that is not a single event, and its newest events. */
export function Subject({ answer: { subject, rejection, records }, onOpen, onClose }: Props): ReactElement {
  const { kind, id, name } = subject
  return (
    <section
      aria-label={KINDS[kind]}
      className="relative min-h-0 overflow-y-auto border-l border-line bg-surface py-3 pr-3.5 pl-5"
    >
      <div className="absolute top-3 right-3.5">
        <IconButton label="Close" onClick={onClose}>
          <X strokeWidth={1.5} />
        </IconButton>
      </div>
      <h2 className="truncate pr-8 text-title">{name ?? KINDS[kind]}</h2>
      <p className="mono mt-px text-meta text-ink-3">
        {name !== null && <span className="mr-3.5">{KINDS[kind]}</span>}
        <CopyButton text={id} label="Copy ID">
          {id}
        </CopyButton>
      </p>
      {rejection === null ? (
        <>
          <h3 className="mt-4 mb-1 font-control">Newest events</h3>
          {records.length === 0 && <p className="text-ink-3">There are no retained events.</p>}
          <ul>
            {records.toReversed().map((record) => (
              <li key={record.id} className="flex h-8 items-center gap-3.5">
                <button type="button" className="mono truncate text-data text-accent" onClick={() => onOpen(record.id)}>
                  {record.id}
                </button>
                <span className="truncate">{record.dataset}</span>
                <span className="ml-auto">
                  <Time at={record.received_at} />
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          <p className="mt-4">
            {rejection.count} × {rejection.status} {rejection.reason.replaceAll('_', ' ')}, last{' '}
            <Time at={rejection.at} />
          </p>
          <p className="mt-1 text-ink-2">{rejection.remedy}</p>
        </>
      )}
    </section>
  )
}
