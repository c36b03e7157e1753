import { Info, Lock, TriangleAlert, X } from 'lucide-react'
import { useState, useSyncExternalStore, type ReactElement, type ReactNode } from 'react'
import { useAsk } from '../data/ask.ts'
import { To } from '../data/go.tsx'
import { useWorkspace, type Broadcast } from '../data/lists.ts'
import { usePlace } from '../data/place.ts'
import { IconButton } from '../ui/button.tsx'
import { dateText } from '../ui/moments.ts'

/** The lines above every screen: the state of the workspace when it is not open, and the announcements of the operators. */
export function Banners(): ReactElement {
  const { suspended, closed } = usePlace().me.workspace
  return (
    <>
      {suspended ? <Suspended /> : closed && <Closed />}
      <Announcements />
    </>
  )
}

const ICON = { className: 'mt-0.5 size-4 flex-none', strokeWidth: 1.5, 'aria-hidden': true } as const
const COUNT_EVERY_MS = 60_000
const RUNS_MAX = 200

function Suspended(): ReactElement {
  const { suspended_reason: reason, support_contact: contact } = usePlace().me.workspace
  return (
    <State
      title="This workspace is suspended."
      lead={
        <>
          {reason !== null && <>Reason: {reason} </>}
          {contact !== null && <>Contact: {contact}</>}
        </>
      }
    >
      <List
        title="What is paused"
        of={[
          'Postroad rejects every event and every stream with 403.',
          'Postroad sends nothing and does not start schedules, sources, workflows or agents.',
          <Waiting key="waiting" />,
          'Everything continues where it stopped when the operator reinstates the workspace.',
        ]}
      />
      <List
        title="What still works"
        of={[
          'Reading and searching stored data',
          'Revoking API keys and invites, removing members, and leaving',
          'Billing, and switching to another workspace',
        ]}
      />
    </State>
  )
}

function Closed(): ReactElement {
  const { me } = usePlace()
  const until = useWorkspace().data?.deleted_after
  return (
    <State
      title="This workspace is closed."
      lead={
        <>
          {until !== undefined && until !== null && <>Postroad deletes it after {dateText(until)}. </>}
          {me.role !== 'owner' && 'An owner can reopen it.'}
        </>
      }
      action={
        me.role === 'owner' && (
          <To screen="workspace" className="inline-block min-h-6 flex-none leading-6 underline">
            Reopen workspace
          </To>
        )
      }
    >
      <List
        title="What is paused"
        of={[
          'Postroad rejects all events, streams and changes with 403, and sends nothing.',
          <Waiting key="waiting" />,
        ]}
      />
      <List
        title="What still works"
        of={['Reading and searching stored data', 'Data exports, and leaving the workspace']}
      />
    </State>
  )
}

/** The counts of waiting work: deliveries in the workspace, and runs of workflows in the open project. */
function Waiting(): ReactElement {
  const summary = useAsk(
    ['dashboard', 'summary', 'waiting'],
    (client, signal) => client.dashboard.summary({}, { signal }),
    { everyMs: COUNT_EVERY_MS },
  ).data?.summary
  const runs = useAsk(
    ['workflowInstances', 'paused'],
    (client, signal) => client.workflowInstances.list({ state: 'paused', limit: RUNS_MAX }, { signal }),
    { everyMs: COUNT_EVERY_MS },
  ).data
  if (summary === undefined || runs === undefined) return <>Waiting deliveries and workflow runs are not lost.</>
  const { pending, retrying, paused } = summary.backlog
  const deliveries = (pending + retrying + paused).toLocaleString('en')
  const count = runs.instances.length
  return (
    <>
      {deliveries} {deliveries === '1' ? 'delivery waits' : 'deliveries wait'} in the workspace, and {count}
      {runs.next_cursor === null ? '' : ' or more'} {count === 1 ? 'workflow run waits' : 'workflow runs wait'} in this
      project.
    </>
  )
}

function State({
  title,
  lead,
  action,
  children,
}: {
  readonly title: string
  readonly lead: ReactNode
  /** The action is beside the line, because a line that opens cannot contain a link. */
  readonly action?: ReactNode
  readonly children: ReactNode
}): ReactElement {
  return (
    <div
      role="status"
      className="flex flex-none items-start gap-4 border-b border-line bg-retry-soft px-[18px] py-1.5 text-retry-text"
    >
      <details className="group min-w-0 flex-1">
        <summary className="flex min-h-6 items-start gap-2">
          <Lock {...ICON} />
          <span className="min-w-0 break-words">
            <b className="font-strong">{title}</b> {lead}
          </span>
          <span className="ml-auto flex-none underline group-open:hidden">Details</span>
        </summary>
        <div className="grid grid-cols-2 gap-x-8 gap-y-2 py-2 pl-4 max-md:grid-cols-1">{children}</div>
      </details>
      {action}
    </div>
  )
}

function List({ title, of }: { readonly title: string; readonly of: readonly ReactNode[] }): ReactElement {
  return (
    <section aria-label={title}>
      <b className="font-strong">{title}</b>
      <ul className="list-disc pl-4">
        {of.map((one, index) => (
          <li key={index}>{one}</li>
        ))}
      </ul>
    </section>
  )
}

const EVERY_MS = 60_000
const SEEN = 'postroad.announcements-read'
const SEEN_MAX = 200
const listeners = new Set<() => void>()

/** The announcements that the person has dismissed in this browser. */
function useSeen(): { readonly has: (id: string) => boolean; readonly add: (id: string) => void } {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => localStorage.getItem(SEEN) ?? '',
  )
  const ids = text.split(' ')
  return {
    has: (id) => ids.includes(id),
    add: (id) => {
      localStorage.setItem(SEEN, [...ids, id].slice(-SEEN_MAX).join(' '))
      for (const listener of listeners) listener()
    },
  }
}

/** The active announcements, one at a time; each stays until the person dismisses it. */
function Announcements(): ReactElement | null {
  const seen = useSeen()
  const shown = useAsk(
    ['broadcasts', 'newest'],
    (client, signal) => client.broadcasts.list({ limit: 50 }, { signal }),
    { everyMs: EVERY_MS },
  ).data?.broadcasts.filter(({ id, active }) => active && !seen.has(id))
  const [first, ...others] = shown ?? []
  if (first === undefined) return null
  return <Announcement key={first.id} of={first} others={others.length} onRead={() => seen.add(first.id)} />
}

const LOOKS: Readonly<Record<Broadcast['severity'], string>> = {
  info: 'bg-accent-soft text-ink',
  warning: 'bg-retry-soft text-retry-text',
  critical: 'bg-fail-soft text-fail',
}

function Announcement({
  of: { title, text, severity },
  others,
  onRead,
}: {
  readonly of: Broadcast
  readonly others: number
  readonly onRead: () => void
}): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const Icon = severity === 'info' ? Info : TriangleAlert
  return (
    <section
      aria-label="Announcement"
      className={`flex flex-none items-start gap-2 border-b border-line py-1.5 pr-3 pl-[18px] ${LOOKS[severity]}`}
    >
      <Icon {...ICON} />
      <div className="min-w-0 flex-1 break-words">
        <p className={isOpen ? 'whitespace-pre-wrap' : 'truncate'}>
          <b className="font-strong">{title}</b> {text}
        </p>
        {others > 0 && (
          <To screen="announcements" className="underline">
            {others} more
          </To>
        )}
      </div>
      <button
        type="button"
        aria-expanded={isOpen}
        className="min-h-6 px-1 underline"
        onClick={() => setOpen((before) => !before)}
      >
        {isOpen ? 'Less' : 'Read it'}
      </button>
      <IconButton label={`Put away: ${title}`} className="!size-6 !text-current" onClick={onRead}>
        <X strokeWidth={1.5} />
      </IconButton>
    </section>
  )
}
