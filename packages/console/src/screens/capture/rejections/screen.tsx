import { useMemo, useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useSearchState } from '../../../data/go.tsx'
import { useWebhooks } from '../../../data/names.ts'
import { usePlace } from '../../../data/place.ts'
import type { Search } from '../../../data/search-text.ts'
import type { Rejection } from '../../../data/tail.ts'
import { Ago } from '../../../ui/ago.tsx'
import { adminCurl } from '../../../parts/commands.ts'
import { FilterMenu } from '../../../parts/filter-menu.tsx'
import { PanelState } from '../../../parts/panel-state.tsx'
import { counted } from '../../../parts/text-list.ts'
import { useKeys } from '../../../shell/keys.ts'
import { Button, Kbd } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Page, Views } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Table, TwoLines, type Column } from '../../../ui/table.tsx'
import { CAUSES, groupsOf, type Group } from '../../../parts/causes.ts'
import { CausePanel } from './cause-panel.tsx'
import { ExportRejections } from './export.tsx'
import { useRejections, type Asked } from './use-rejections.ts'

type RejectionsSearch = Search & {
  readonly range?: string
  readonly webhook?: string
  readonly key?: string
  readonly sel?: string
}

const RANGES = [
  { id: '1h', label: '1 hour', hours: 1 },
  { id: '', label: '24 hours', hours: 24 },
  { id: '7d', label: '7 days', hours: 168 },
  { id: '30d', label: '30 days', hours: 720 },
] as const
const NO_KEYS: readonly { readonly id: string; readonly name: string }[] = []

const STATE: Column<Group> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: () => <Glyph tone="rejected" />,
}
const CAUSE: Column<Group> = {
  id: 'cause',
  label: 'Cause',
  width: 'minmax(180px,1.5fr)',
  plain: true,
  cell: ({ id }) => (
    <TwoLines top={CAUSES[id].title} below={<span className="max-md:whitespace-normal">{CAUSES[id].text}</span>} />
  ),
}
const COUNT: Column<Group> = {
  id: 'count',
  label: 'Requests',
  width: '76px',
  align: 'right',
  cell: ({ count }) => <span className="mono text-data">{count.toLocaleString('en')}</span>,
}

const STATUS: Column<Group> = {
  id: 'status',
  label: 'Answered',
  width: '76px',
  cell: ({ status }) => <span className="mono text-data text-fail">{status}</span>,
}
const LAST: Column<Group> = {
  id: 'last',
  label: 'Last',
  width: '108px',
  align: 'right',
  cell: ({ lastAt }) => (
    <span className="text-ink-3">
      <Ago at={lastAt} />
    </span>
  ),
}
const SLIM = [STATE, CAUSE, COUNT]

function whereOf(nameOf: NameOf): Column<Group> {
  const names = (rows: Group['rows']): string => [...new Set(rows.map(nameOf))].join(', ')
  return {
    id: 'where',
    label: 'Where',
    width: 'minmax(120px,1fr)',
    cell: ({ rows }) => <span className="block truncate text-ink-2">{names(rows)}</span>,
  }
}

type NameOf = (row: Pick<Rejection, 'webhook_id' | 'ingest_key_id'>) => string

/** Rejections: the rejected requests by cause, each with its remedy. */
export function Screen(): ReactElement {
  const [search, setSearch] = useSearchState<RejectionsSearch>()
  const webhooks = useWebhooks()
  const keys = useKeyNames()
  const { hours } = RANGES.find(({ id }) => id === search.range) ?? RANGES[1]
  const asked = useRejections({ hours, webhook: search.webhook, key: search.key })
  const groups = useMemo(() => groupsOf(asked.rows ?? []), [asked.rows])
  const nameOf: NameOf = ({ webhook_id, ingest_key_id }) =>
    webhook_id === null
      ? (keys.find(({ id }) => id === ingest_key_id)?.name ?? 'an ingest key')
      : webhooks.nameOf(webhook_id)
  const here = groups.findIndex(({ id }) => id === search.sel)
  const step = (by: number): void => {
    const to = groups[Math.max(0, Math.min(groups.length - 1, here + by))]
    if (to !== undefined) setSearch({ sel: to.id })
  }
  const close = (): void => setSearch({ sel: undefined })
  const group = here < 0 ? undefined : groups[here]
  useKeys({ j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), Escape: close })
  const isOpen = search.sel !== undefined
  const columns = isOpen ? SLIM : [STATE, CAUSE, whereOf(nameOf), STATUS, COUNT, LAST]
  return (
    <div
      className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(0,1fr)_minmax(0,560px)] max-lg:grid-cols-1' : 'grid-cols-1'}`}
    >
      <div className={`min-h-0 min-w-0 ${isOpen ? 'max-lg:hidden' : ''}`}>
        <Page
          title="Rejections"
          beside={
            <Views
              label="Range"
              of={RANGES}
              at={RANGES.find(({ id }) => id === search.range)?.id ?? ''}
              go={(range) => setSearch({ range: range === '' ? undefined : range })}
            />
          }
          actions={<Actions search={search} hours={hours} setSearch={setSearch} keys={keys} />}
          foot={
            <>
              <Sum groups={groups} asked={asked} />
              <span className="ml-auto flex items-center gap-1 max-md:hidden">
                <Kbd>J</Kbd>
                <Kbd>K</Kbd> move <Kbd>?</Kbd> shortcuts
              </span>
            </>
          }
        >
          {asked.error !== null && asked.rows !== undefined && (
            <Stale since={asked.readAt} error={asked.error} again={asked.again} />
          )}
          {asked.rows === undefined &&
            (asked.error === null ? <Loading height={48} /> : <Refused error={asked.error} again={asked.again} />)}
          {asked.rows !== undefined && groups.length === 0 && (
            <Nothing
              isFiltered={[search.webhook, search.key, search.range].some((one) => one !== undefined)}
              clear={() => setSearch({ webhook: undefined, key: undefined, range: undefined })}
            />
          )}
          {groups.length > 0 && (
            <Table
              label="Rejections"
              columns={columns}
              rows={groups}
              idOf={({ id }) => id}
              at={search.sel}
              onGo={({ id }) => setSearch({ sel: id })}
              rowHeight={48}
            />
          )}
        </Page>
      </div>
      {isOpen &&
        (group === undefined ? (
          <NoSuch asked={asked} close={close} />
        ) : (
          <Cause
            key={group.id}
            group={group}
            asked={{ hours, webhook: search.webhook, key: search.key, reason: group.id }}
            nameOf={nameOf}
            onClose={close}
          />
        ))}
    </div>
  )
}

/** One cause is read in separate pages, so a person can read all of it despite many other refusals. */
function Cause({
  group,
  asked,
  nameOf,
  onClose,
}: {
  readonly group: Group
  readonly asked: Asked
  readonly nameOf: NameOf
  readonly onClose: () => void
}): ReactElement {
  const log = useRejections(asked)
  const [own] = groupsOf(log.rows ?? [])
  return (
    <CausePanel
      group={own ?? group}
      older={log.more ? { isReading: log.isReading, read: log.further } : undefined}
      nameOf={nameOf}
      onClose={onClose}
    />
  )
}

function Sum({
  groups,
  asked: { rows, more, isReading, further },
}: {
  readonly groups: readonly Group[]
  readonly asked: ReturnType<typeof useRejections>
}): ReactElement {
  return (
    <>
      <span aria-live="polite">
        {rows !== undefined && (
          <>
            {counted(
              groups.reduce((sum, { count }) => sum + count, 0),
              'request',
            )}{' '}
            rejected{more ? `, of the newest ${rows.length.toLocaleString('en')} minutes` : ''}
          </>
        )}
      </span>
      {isReading && rows !== undefined && <span>loading older ones…</span>}
      {more && !isReading && (
        <Button className="h-6" onClick={further}>
          Load older rejections
        </Button>
      )}
    </>
  )
}

type ActionsProps = {
  readonly search: RejectionsSearch
  readonly setSearch: (change: Partial<RejectionsSearch>) => void
  readonly keys: typeof NO_KEYS
  readonly hours: number
}

function Actions({ search: { webhook, key }, hours, setSearch, keys }: ActionsProps): ReactElement {
  const { project } = usePlace()
  const { all } = useWebhooks()
  const copy = useCopy()
  const [isExporting, setExporting] = useState(false)
  return (
    <>
      <FilterMenu
        label="Endpoint"
        every="All endpoints"
        of={[...all, ...keys.map(({ id, name }) => ({ id, name: `Key ${name}` }))]}
        at={webhook ?? key}
        go={(id) => {
          const isKey = keys.some((one) => one.id === id)
          setSearch({ webhook: isKey ? undefined : id, key: isKey ? id : undefined })
        }}
      />
      <MoreMenu
        items={[
          { label: 'Export…', go: () => setExporting(true) },
          {
            label: 'Copy the list as curl',
            go: () =>
              void copy(
                adminCurl({
                  project,
                  path: 'rejections',
                  query: { webhook_id: webhook, ingest_key_id: key, from: startOf(hours) },
                }),
                'Command copied',
              ),
          },
        ]}
      />
      {isExporting && <ExportRejections asked={{ hours, webhook, key }} onClose={() => setExporting(false)} />}
    </>
  )
}

function startOf(hours: number): string {
  return new Date(Date.now() - hours * 3_600_000).toISOString()
}

function NoSuch({
  asked: { rows, isReading, error, again },
  close,
}: {
  readonly asked: ReturnType<typeof useRejections>
  readonly close: () => void
}): ReactElement {
  if (rows === undefined || isReading)
    return <PanelState label="Cause" asked={{ error, refetch: again }} onClose={close} />
  return (
    <section aria-label="Cause" className="border-l border-line">
      <Empty
        title="No requests were rejected for this reason"
        actions={<Button onClick={close}>Back to the list</Button>}
      >
        Try a longer time range.
      </Empty>
    </section>
  )
}

/** The names of the ingest keys that the log may name. */
function useKeyNames() {
  const { data } = useAsk(['ingest-keys', 'names'], async (client, signal) => {
    const names: { readonly id: string; readonly name: string }[] = []
    for await (const { id, name } of client.ingestKeys.list({ limit: 200 }, { signal })) names.push({ id, name })
    return names
  })
  return data ?? NO_KEYS
}

function Nothing({ isFiltered, clear }: { readonly isFiltered: boolean; readonly clear: () => void }): ReactElement {
  if (isFiltered)
    return (
      <Empty title="No rejected requests here" actions={<Button onClick={clear}>Show all endpoints, 24 hours</Button>}>
        Try another endpoint or a longer time range.
      </Empty>
    )
  return (
    <Empty title="No rejected requests">
      No request was rejected in the last 24 hours. Rejected requests appear here, grouped by cause, each with a remedy.
    </Empty>
  )
}
