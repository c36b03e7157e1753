import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useSearchState } from '../../../data/go.tsx'
import { every } from '../../../data/lists.ts'
import type { Search } from '../../../data/search-text.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { Choice } from '../../../parts/choice.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Check, Field, TextArea } from '../../../ui/field.tsx'
import { Chip, type Tone } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Empty, RefusedLine } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { Area, type AreaProps } from './area.tsx'

type Broadcast = RouteAnswer<Routes['platformBroadcasts']['list']>['broadcasts'][number]
type Severity = Broadcast['severity']
type AreaSearch = Search & { readonly new?: string }

const SEVERITIES: readonly Severity[] = ['info', 'warning', 'critical']
const TONES: Readonly<Record<Severity, Tone>> = { info: 'none', warning: 'retry', critical: 'fail' }
const LABELS: Readonly<Record<Severity, string>> = { info: 'Info', warning: 'Warning', critical: 'Critical' }
const ROOMS = ['platformBroadcasts', 'broadcasts']

/** The announcements of the operators to workspaces. */
export function BroadcastsArea({ views }: AreaProps): ReactElement {
  const [{ new: writing }, setSearch] = useSearchState<AreaSearch>()
  const write = (): void => setSearch({ new: '1' })
  const items = useCopyItemsOf()
  const asked = useAsk(['platformBroadcasts', 'all'], (client, signal) =>
    every(client.platformBroadcasts.list({ limit: 200 }, { signal })),
  )
  return (
    <Area
      views={views}
      label="Announcements"
      asked={asked}
      actions={
        <>
          <Button kind={asked.data?.length === 0 ? 'normal' : 'primary'} onClick={write}>
            New announcement
          </Button>
          <MoreMenu items={items({ route: routes.platformBroadcasts.list })} />
        </>
      }
      foot={asked.data !== undefined && counted(asked.data.length, 'announcement')}
    >
      {(all) => (
        <>
          {all.length === 0 && (
            <Empty
              title="No announcements yet"
              actions={
                <Button kind="primary" onClick={write}>
                  New announcement
                </Button>
              }
            >
              Announce maintenance or an incident. Workspace members see the announcement immediately, at the top of
              every screen.
            </Empty>
          )}
          <ul aria-label="Announcements">
            {all.map((one) => (
              <Line key={one.id} of={one} />
            ))}
          </ul>
          {writing !== undefined && <AnnounceDialog onClose={() => setSearch({ new: undefined })} />}
        </>
      )}
    </Area>
  )
}

function Line({ of }: { readonly of: Broadcast }): ReactElement {
  const { id, title, text, severity, active, withdrawn_at, workspace_ids, created_at, ends_at } = of
  const [isAsking, setAsking] = useState(false)
  const withdraw = useChange(ROOMS, (client) => client.platformBroadcasts.withdraw({ id }))
  return (
    <li className="border-b border-line/55 px-[18px] py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 font-title break-words">{title}</h2>
        <Chip tone={active ? TONES[severity] : 'none'}>
          {withdrawn_at !== null ? 'withdrawn' : active ? severity : 'ended'}
        </Chip>
        <span className="text-ink-3">
          to {workspace_ids === null ? 'all workspaces' : counted(workspace_ids.length, 'workspace')}
        </span>
        <span className="ml-auto flex items-center gap-3 text-ink-3">
          <span>
            <Time at={created_at} />
            {ends_at !== null && (
              <>
                {' '}
                until <Time at={ends_at} />
              </>
            )}
          </span>
          {withdrawn_at === null && (
            <Button aria-label={`Withdraw ${title}`} onClick={() => setAsking(true)}>
              Withdraw
            </Button>
          )}
        </span>
      </div>
      <p className="mt-1 max-w-[80ch] break-words whitespace-pre-wrap text-ink-2">{text}</p>
      {isAsking && (
        <AskDialog
          title={`Withdraw “${title}”?`}
          verb="Withdraw"
          disabled={withdraw.isPending}
          error={withdraw.error}
          onClose={() => setAsking(false)}
          onYes={() => withdraw.mutate(undefined, { onSuccess: () => setAsking(false) })}
        >
          <p className="mb-3 text-ink-2">Members no longer see the announcement. Operators see it as withdrawn.</p>
        </AskDialog>
      )}
    </li>
  )
}

function AnnounceDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const [severity, setSeverity] = useState<Severity>('info')
  const [end, setEnd] = useState('')
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const toast = useToast()
  const announce = useChange(ROOMS, (client, sent: Body) => client.platformBroadcasts.create(sent))
  return (
    <CreateWindow
      wide
      title="New announcement"
      lead="Members see the announcement immediately, at the top of every screen. Each member can dismiss it. Plain text only."
      read={read({ title, text, severity, end, chosen })}
      call={(body) => ({ route: routes.platformBroadcasts.create, body })}
      submit={(body) =>
        announce.mutate(body, {
          onSuccess: () => {
            toast({ text: 'Announced. Members see it at the top of every screen.' })
            onClose()
          },
        })
      }
      change={announce}
      verb="Announce"
      onClose={onClose}
    >
      <Field
        label="Title"
        required
        maxLength={LIMITS.broadcastTitleCharsMax}
        value={title}
        onChange={({ target }) => setTitle(target.value)}
      />
      <TextArea
        label="Text"
        required
        rows={4}
        maxLength={LIMITS.broadcastTextCharsMax}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Choice
        label="Severity"
        of={SEVERITIES.map((id) => ({ id, label: LABELS[id] }))}
        at={severity}
        go={setSeverity}
      />
      <Field
        label="Ends"
        type="datetime-local"
        max="9999-12-31T23:59"
        value={end}
        onChange={({ target }) => setEnd(target.value)}
        hint="Optional. In your time zone. If empty, the announcement remains active until you withdraw it."
      />
      <Receivers chosen={chosen} choose={setChosen} />
    </CreateWindow>
  )
}

type Draft = {
  readonly title: string
  readonly text: string
  readonly severity: Severity
  readonly end: string
  readonly chosen: readonly string[] | null
}

type Body = {
  readonly title: string
  readonly text: string
  readonly severity: Severity
  readonly ends_at: string | null
  readonly workspace_ids: string[] | null
}

function read({ title, text, severity, end, chosen }: Draft): { readonly body: Body } | { readonly problem: string } {
  if (title.trim() === '' || text.trim() === '') return { problem: 'Enter a title and a text.' }
  if (chosen?.length === 0) return { problem: 'Choose at least one workspace.' }
  // The field accepts years that make no valid date.
  const ends = end === '' ? undefined : new Date(end)
  if (Number.isNaN(ends?.getTime())) return { problem: 'The end is not a time.' }
  return {
    body: {
      title: title.trim(),
      text: text.trim(),
      severity,
      ends_at: ends?.toISOString() ?? null,
      workspace_ids: chosen === null ? null : [...chosen],
    },
  }
}

/** Every workspace, or some of them. */
function Receivers({
  chosen,
  choose,
}: {
  readonly chosen: readonly string[] | null
  readonly choose: (ids: readonly string[] | null) => void
}): ReactElement {
  const asked = useAsk(
    ['platformWorkspaces', 'names'],
    (client, signal) => every(client.platformWorkspaces.list({ limit: 200 }, { signal })),
    { enabled: chosen !== null },
  )
  return (
    <fieldset className="mb-3.5">
      <legend className="mb-1 font-control">Audience</legend>
      <Check
        checked={chosen === null}
        onChange={({ target }) => choose(target.checked ? null : [])}
        label="All workspaces"
      />
      {chosen !== null && (
        <div
          className="mt-1 max-h-40 overflow-y-auto rounded-field border border-line-2 px-2.5 py-1"
          role="group"
          aria-label="Workspaces"
          tabIndex={0}
        >
          <RefusedLine error={asked.error} />
          {asked.data?.map(({ id, name, slug }) => (
            <Check
              key={id}
              checked={chosen.includes(id)}
              onChange={({ target }) => choose(target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))}
              label={
                <>
                  {name} <span className="mono text-data text-ink-3">{slug}</span>
                </>
              }
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}
