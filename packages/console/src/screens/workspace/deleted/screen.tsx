import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { readsEvery, useAsk, useChange } from '../../../data/ask.ts'
import { useGo } from '../../../data/go.tsx'
import { useClient, useMay, usePlace, useRefusal } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Table, TwoLines, type Column } from '../../../ui/table.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Deletion = RouteAnswer<Routes['deletions']['list']>['deletions'][number]
type Kind = Deletion['kind']

/** The word of a kind, its room in the data of the page, and the screen where a restored one is. */
const KINDS: Readonly<
  Record<Kind, { readonly word: string; readonly rooms: readonly string[]; readonly screen: string }>
> = {
  webhook: { word: 'Endpoint', rooms: ['webhooks'], screen: 'endpoints' },
  rule: { word: 'Rule', rooms: ['rules'], screen: 'rules' },
  destination: { word: 'Destination', rooms: ['destinations', 'deliveries'], screen: 'destinations' },
  workflow: { word: 'Workflow', rooms: ['workflows'], screen: 'workflows' },
  transform: { word: 'Transform', rooms: ['transforms'], screen: 'transforms' },
}

const READ_AGAIN_MS = 15_000

const WHAT: Column<Deletion> = {
  id: 'what',
  label: 'Name',
  width: 'minmax(140px,1fr)',
  plain: true,
  cell: ({ kind, name }) => <TwoLines top={name} below={KINDS[kind].word} />,
}
const WHEN: Column<Deletion> = {
  id: 'when',
  label: 'Deleted',
  width: '108px',
  cell: ({ deleted_at: at }) => (
    <span className="text-ink-2">
      <Ago at={at} />
    </span>
  ),
}
const LEFT: Column<Deletion> = {
  id: 'left',
  label: 'Erased',
  width: '96px',
  cell: ({ restorable_until: until }) => (
    <span className="text-ink-3">
      <Countdown to={until} />
    </span>
  ),
}
const ACTION: Column<Deletion> = {
  id: 'restore',
  label: 'Restore',
  width: '84px',
  align: 'right',
  hidden: true,
  plain: true,
  cell: (deletion) => <Restore deletion={deletion} />,
}

const BY: Column<Deletion> = {
  id: 'by',
  label: 'By',
  width: 'minmax(90px,.7fr)',
  cell: (deletion) => <By deletion={deletion} />,
}
const COLUMNS = [WHAT, BY, WHEN, LEFT, ACTION]

/** The deletions of the last 24 hours, to undo them. */
export function Screen(): ReactElement {
  const { project } = usePlace()
  const client = useClient()
  const asked = useInfiniteQuery({
    queryKey: [project.id, 'deletions'],
    queryFn: ({ pageParam, signal }) =>
      client.deletions.list({ limit: 100, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: readsEvery(READ_AGAIN_MS),
  })
  const rows = asked.data?.pages.flatMap(({ deletions }) => deletions)
  return (
    <SettingsPage
      title="Deleted"
      foot={
        rows === undefined || rows.length === 0 ? undefined : (
          <span aria-live="polite">
            {counted(rows.length, 'deletion')}
            {asked.hasNextPage ? ', and older ones' : ''} in the last 24 hours
          </span>
        )
      }
    >
      {asked.error !== null && rows !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {rows === undefined &&
        (asked.error === null ? <Loading height={48} /> : <Refused error={asked.error} again={asked.refetch} />)}
      {rows?.length === 0 && (
        <Empty title="Nothing was deleted in the last 24 hours">
          Deleted endpoints, rules, destinations and workflows appear here for 24 hours. A restored resource has the
          same ID, URL and secrets as before.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && <Deletions rows={rows} further={() => void asked.fetchNextPage()} />}
    </SettingsPage>
  )
}

type ListProps = { readonly rows: readonly Deletion[]; readonly further: () => void }

function Deletions({ rows, further }: ListProps): ReactElement {
  return (
    <Table
      label="Deletions"
      columns={COLUMNS}
      rows={rows}
      idOf={({ id }) => id}
      onGo={() => undefined}
      isFixed={() => true}
      onEnd={further}
      rowHeight={48}
    />
  )
}

function By({ deletion: { actor, agent } }: { readonly deletion: Deletion }): ReactElement {
  const nameOf = useMemberNames()
  return (
    <span className="block truncate text-ink-2" title={agent ?? actor}>
      {agent === null ? nameOf(actor) : agentWord(agent)}
    </span>
  )
}

/** The members by their ids. Only people who may list members see the names of others. */
function useMemberNames(): (id: string) => string {
  const { me } = usePlace()
  const may = useMay(routes.members.list)
  const { data } = useAsk(
    ['members', 'names'],
    async (client, signal) => {
      const names = new Map<string, string>()
      for await (const { id, name, email } of client.members.list({ limit: 200 }, { signal }))
        names.set(id, email ?? name)
      return names
    },
    { enabled: may },
  )
  return (id) => (id === me.user.id ? 'you' : (data?.get(id) ?? 'another member'))
}

/** `api_key:key_…` is an API key; any other id is an agent that acts for a person. */
const agentWord = (agent: string): string => (agent.startsWith('api_key:') ? 'an API key' : `the agent ${agent}`)

function Restore({ deletion: { id, kind, name, resource_id: sel } }: { readonly deletion: Deletion }): ReactElement {
  const { rooms, screen } = KINDS[kind]
  const toast = useToast()
  const go = useGo()
  const refusal = useRefusal(routes.deletions.restore)
  const may = refusal === undefined
  const restore = useChange([...rooms, 'deletions'], (client) => client.deletions.restore({ id }))
  const say = (): void =>
    toast({
      text: `${name} is restored.`,
      action: { label: 'Show', go: () => go(screen, { sel }) },
    })
  return (
    <Button
      className="h-7"
      disabled={!may || restore.isPending}
      title={may ? `Restores ${name} with its settings` : refusal}
      onClick={(event) => {
        event.stopPropagation()
        restore.mutate(undefined, {
          onSuccess: say,
          onError: (error) => toast({ text: error.message, kind: 'fail' }),
        })
      }}
    >
      Restore<span className="sr-only"> {name}</span>
    </Button>
  )
}
