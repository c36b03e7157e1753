import { routes } from '@postroad/contract'
import { ChevronDown, ChevronUp, RotateCw, X } from 'lucide-react'
import { lazy, Suspense, useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { filterText } from '@postroad/contract/filter'
import { queryToSend, withQuery } from '@postroad/contract/sent-again'
import { useWebhooks } from '../../../data/names.ts'
import { usePlace, useRefusal } from '../../../data/place.ts'
import { toneOf, worstOf } from '../../../data/tone.ts'
import { cliIn } from '../../../parts/commands.ts'
import { PanelState } from '../../../parts/panel-state.tsx'
import { useKeys } from '../../../shell/keys.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CopyButton, useCopy } from '../../../ui/copy.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { JsonTree } from '../../../ui/json-tree.tsx'
import { loaded } from '../../../ui/loaded.ts'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Refused } from '../../../ui/states.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { bytes, Time } from '../../../ui/time.tsx'
import { curlOf } from './commands.ts'
import { isStory, type Story } from './path.ts'
import { PathView } from './path-view.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { Subject } from './subject.tsx'
import type { EventsSearch } from './search.ts'
import type { Draft } from './send-dialog.tsx'
import { useTitles } from './use-titles.ts'

const LocalDialog = lazy(() =>
  loaded(() => import('./local-dialog.tsx').then(({ LocalDialog: all }) => ({ default: all }))),
)

const tabs = () => import('./inspector-tabs.tsx')
const DeliveriesTab = lazy(() => loaded(async () => ({ default: (await tabs()).DeliveriesTab })))
const HeadersTab = lazy(() => loaded(async () => ({ default: (await tabs()).HeadersTab })))
const RawTab = lazy(() => loaded(async () => ({ default: (await tabs()).RawTab })))
const ResponseTab = lazy(() => loaded(async () => ({ default: (await tabs()).ResponseTab })))
const RoutingTab = lazy(() => loaded(async () => ({ default: (await tabs()).RoutingTab })))

type Props = {
  readonly id: string
  readonly search: EventsSearch
  readonly change: (change: Partial<EventsSearch>) => void
  readonly onStep: (by: number) => void
  /** Opens the window that sends an event, with the body and the title of this one. */
  readonly onResend: (draft: Draft) => void
}

const LIVE_MS = 4_000
const SETTLED_MS = 30_000
const TABS = ['payload', 'headers', 'deliveries', 'response', 'routing', 'raw'] as const
type TabId = (typeof TABS)[number]

/** One event from its first byte to its last attempt. Any id of the story opens it. */
export function Inspector(props: Props): ReactElement {
  const { id, change } = props
  const asked = useAsk(['correlate', id], (client, signal) => client.search.correlate({ id }, { signal }), {
    everyMs: LIVE_MS,
  })
  const close = (): void => change({ sel: undefined, full: undefined })
  if (asked.data === undefined) return <PanelState label="Event" asked={asked} onClose={close} />
  if (!isStory(asked.data)) return <Subject answer={asked.data} onOpen={(sel) => change({ sel })} onClose={close} />
  return <Opened {...props} story={asked.data} />
}

function useWhole(story: Story, id: string) {
  const recordId = story.records.find((record) => record.id === id)?.id ?? story.records[0]?.id
  const record = useAsk(
    ['records', 'get', recordId],
    (client, signal) => client.records.get({ id: recordId ?? '' }, { signal }),
    { enabled: recordId !== undefined, everyMs: SETTLED_MS * 10 },
  )
  const submission = useAsk(
    ['submissions', 'get', story.submission.id],
    (client, signal) => client.submissions.get({ id: story.submission.id }, { signal }),
    { everyMs: SETTLED_MS * 10 },
  )
  return {
    recordId,
    record: record.data?.record,
    submission: submission.data?.submission,
    error: record.error ?? submission.error,
    again: () => (record.error === null ? submission.refetch() : record.refetch()),
  }
}

function Opened({ id, search, change, onStep, onResend, story }: Props & { readonly story: Story }): ReactElement {
  const { nameOf } = useWebhooks()
  const whole = useWhole(story, id)
  const titleOf = useTitles()
  const copy = useCopy()
  const tab = TABS.find((one) => one === search.tab) ?? 'payload'
  const { submission } = story
  const go = (to: TabId): void => change({ tab: to === 'payload' ? undefined : to })
  useKeys({
    y: () => void copy(whole.recordId ?? submission.id, 'ID copied'),
    Enter: () => change({ full: search.full === undefined ? '1' : undefined }),
    ...Object.fromEntries(TABS.map((one, index) => [String(index + 1), () => go(one)])),
  })
  return (
    <section
      aria-label="Event"
      className="flex min-h-0 min-w-0 flex-col border-l border-line max-lg:border-l-0 bg-surface"
    >
      <header className="py-3 pr-3.5 pl-5">
        <div className="flex items-center gap-2">
          <h2 className="truncate text-title">
            {whole.record === undefined ? (story.records[0]?.dataset ?? 'In no dataset') : titleOf(whole.record)}
          </h2>
          <StoryChip story={story} />
          <span className="flex-1" />
          <IconButton label="Previous event" onClick={() => onStep(-1)}>
            <ChevronUp strokeWidth={1.5} />
          </IconButton>
          <IconButton label="Next event" onClick={() => onStep(1)} className="-ml-2">
            <ChevronDown strokeWidth={1.5} />
          </IconButton>
          <IconButton label="Close" onClick={() => change({ sel: undefined, full: undefined })}>
            <X strokeWidth={1.5} />
          </IconButton>
        </div>
        <div className="mono mt-px flex min-h-6 flex-wrap items-center gap-x-3.5 text-meta whitespace-nowrap text-ink-3">
          <CopyButton text={whole.recordId ?? submission.id} label="Copy ID" className="min-w-0 text-ink-2">
            <span className="truncate">{whole.recordId ?? submission.id}</span>
          </CopyButton>
          <Time at={submission.received_at} />
          <span>{bytes(submission.body_bytes)}</span>
          <span className="truncate">{submission.source_ip}</span>
        </div>
        <Actions story={story} whole={whole} change={change} onResend={onResend} />
      </header>
      <PathView story={story} webhookName={nameOf} />
      <Tabs
        label="Event"
        at={tab}
        go={go}
        tabs={[
          { id: 'payload', label: 'Payload' },
          { id: 'headers', label: 'Headers', count: Object.keys(submission.headers).length },
          { id: 'deliveries', label: 'Deliveries', count: story.deliveries.length },
          { id: 'response', label: 'Response' },
          { id: 'routing', label: 'Routing' },
          { id: 'raw', label: 'Raw' },
        ]}
        beside={<CopyTab tab={tab} request={submission} whole={whole} />}
      >
        {tab === 'payload' && (
          <Payload
            whole={whole}
            onFilter={(path, op, value) => change({ f: [...(search.f ?? []), filterText({ path, op, value })] })}
          />
        )}
        <Suspense>
          {tab === 'headers' && <HeadersTab submission={submission} />}
          {tab === 'deliveries' && <DeliveriesTab story={story} />}
          {tab === 'response' && <ResponseTab story={story} />}
          {tab === 'routing' && <RoutingTab story={story} />}
          {tab === 'raw' && <RawTab whole={whole} />}
        </Suspense>
      </Tabs>
    </section>
  )
}

/** Copies the content of the open tab: the query string and headers, the body as received, or the payload. */
function CopyTab({
  tab,
  request,
  whole: { record, submission },
}: {
  readonly tab: TabId
  readonly request: Story['submission']
  readonly whole: ReturnType<typeof useWhole>
}): ReactElement | null {
  const [text, what] =
    tab === 'headers'
      ? [requestLines(request), 'headers']
      : tab === 'raw'
        ? [submission?.body ?? undefined, 'body']
        : [record?.data_text, 'payload']
  return text === undefined ? null : <CopyButton key={what} text={text} label={`Copy the ${what}`} />
}

function requestLines({ query, headers }: Story['submission']): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [...(query === null ? [] : [`?${query}`]), ...lines].join('\n')
}

type OfEvent = { readonly story: Story; readonly whole: ReturnType<typeof useWhole> }

/** The actions for the event, as buttons and keys. Each is off until its data is loaded. */
function Actions({ story, whole, change, onResend }: OfEvent & Pick<Props, 'change' | 'onResend'>): ReactElement {
  const { all: webhooks } = useWebhooks()
  const copy = useCopy()
  const refusal = useRefusal(routes.deliveries.replay)
  const may = refusal === undefined
  const [isReplaying, setReplaying] = useState(false)
  const { submission } = story
  const body = whole.submission?.body
  const url =
    webhooks.find((webhook) => webhook.id === submission.webhook_id)?.public_url ??
    `${location.origin}/v1/ingest/YOUR_INGEST_KEY`
  const replay = may && story.deliveries.length > 0 ? () => setReplaying(true) : undefined
  const curl =
    body === undefined || body === null
      ? undefined
      : () =>
          void copy(
            curlOf({
              url: withQuery(url, submission.query ?? ''),
              headers: sentHeaders(submission.headers, submission.content_type),
              body,
            }),
            'Copied as curl',
          )
  const resend =
    body === undefined || body === null
      ? undefined
      : () =>
          onResend({
            body,
            webhookId: submission.webhook_id,
            query: queryToSend(submission.query),
            headers: submission.headers,
          })
  const bodyTitle = body === null ? 'The body is not text' : undefined
  useKeys({ r: replay, c: curl, e: resend })
  return (
    <div className="mt-2.5 flex flex-wrap gap-2">
      <Button
        kind="primary"
        hotkey="R"
        icon={<RotateCw strokeWidth={1.5} />}
        disabled={replay === undefined}
        title={may ? 'Sends the event again to its destinations' : refusal}
        onClick={replay}
      >
        Replay
      </Button>
      <Button hotkey="C" disabled={curl === undefined} title={bodyTitle} onClick={curl}>
        Copy as curl
      </Button>
      <Button hotkey="E" disabled={resend === undefined} title={bodyTitle} onClick={resend}>
        Edit and send
      </Button>
      <More story={story} whole={whole} onDataset={(dataset) => change({ dataset })} />
      {isReplaying && <ReplayDialog story={story} onClose={() => setReplaying(false)} />}
    </div>
  )
}

function More({ story, whole, onDataset }: OfEvent & { readonly onDataset: (dataset: string) => void }): ReactElement {
  const copy = useCopy()
  const { project } = usePlace()
  const dataset = story.records[0]?.dataset
  const [isLocal, setLocal] = useState(false)
  const { submission } = story
  const body = whole.submission?.body
  return (
    <>
      <MoreMenu
        items={[
          {
            label: 'Send to localhost…',
            go: () => setLocal(true),
            disabled: body === undefined || body === null,
          },
          { label: 'Copy a link to this event', go: () => void copy(location.href, 'Link copied') },
          {
            label: 'Copy the CLI command',
            go: () => void copy(cliIn(project, `events get ${whole.recordId ?? ''}`), 'Command copied'),
            disabled: whole.recordId === undefined,
          },
          {
            label: 'Copy the payload',
            go: () => void copy(whole.record?.data_text ?? '', 'Payload copied'),
            disabled: whole.record === undefined,
          },
          {
            label: 'Only this dataset',
            go: () => dataset !== undefined && onDataset(dataset),
            disabled: dataset === undefined,
          },
        ]}
      />
      {isLocal && body !== undefined && body !== null && (
        <Suspense>
          <LocalDialog
            request={{
              query: submission.query ?? '',
              headers: sentHeaders(submission.headers, submission.content_type),
              body,
            }}
            receivedAt={submission.received_at}
            onClose={() => setLocal(false)}
          />
        </Suspense>
      )}
    </>
  )
}

function Payload({
  whole,
  onFilter,
}: {
  readonly whole: ReturnType<typeof useWhole>
  readonly onFilter: (path: string, op: 'equals' | 'not_equals', value: string) => void
}): ReactElement | null {
  if (whole.error !== null) return <Refused error={whole.error} again={whole.again} />
  const text = whole.record?.data_text ?? (whole.recordId === undefined ? whole.submission?.body : undefined)
  return text === undefined || text === null ? null : <JsonTree text={text} label="Payload" onFilter={onFilter} />
}

/** The status of the event in a few words: `2 of 3 delivered`. */
function StoryChip({ story: { deliveries, records } }: { readonly story: Story }): ReactElement {
  const tone = worstOf(deliveries.map(toneOf))
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length
  if (deliveries.length === 0)
    return <Chip tone="none">{records.length === 0 ? 'stored in no dataset' : 'stored'}</Chip>
  return (
    <Chip tone={tone}>
      {delivered === deliveries.length ? 'delivered' : `${delivered} of ${deliveries.length} delivered`}
    </Chip>
  )
}

const NOT_SENT_AGAIN =
  /^(?:host|content-length|connection|accept|accept-encoding|user-agent|transfer-encoding|expect)$/i

/** The headers to send again; the person fills in the masked ones. */
function sentHeaders(
  headers: Readonly<Record<string, string>>,
  contentType: string | null,
): Readonly<Record<string, string>> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_SENT_AGAIN.test(name)))
  return Object.keys(kept).some((name) => name.toLowerCase() === 'content-type')
    ? kept
    : { 'content-type': contentType ?? 'application/json', ...kept }
}
