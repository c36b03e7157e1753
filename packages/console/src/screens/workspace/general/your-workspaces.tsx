import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { every } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { Part } from '../../../parts/detail.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { NameAndSlugFields, nameAndSlugIn, type NameAndSlug } from '../../../parts/name-and-slug.tsx'
import { Button } from '../../../ui/button.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'

type Own = RouteAnswer<Routes['workspaces']['list']>['workspaces'][number]

/** The workspaces of the person. The session works in one of them. */
export function YourWorkspaces(): ReactElement {
  const asked = useAsk(['workspaces', 'own'], (client, signal) =>
    every(client.workspaces.list({ limit: 200 }, { signal })),
  )
  const [isCreating, setCreating] = useState(false)
  const refusal = useRefusal(routes.workspaces.create)
  const change = useChange([], (client, id: string) => client.workspaces.switch({ workspace_id: id }))
  const open = (id: string): void => change.mutate(id, { onSuccess: () => location.assign('/') })
  return (
    <Part
      title="Your workspaces"
      text="Each has its own members, projects and data."
      beside={
        <Button disabled={refusal !== undefined} title={refusal} onClick={() => setCreating(true)}>
          New workspace
        </Button>
      }
    >
      {asked.data === undefined &&
        (asked.error === null ? <Loading rows={2} /> : <Refused error={asked.error} again={asked.refetch} />)}
      <ul aria-label="Your workspaces">
        {asked.data?.map((one) => (
          <Line key={one.id} of={one} isBusy={change.isPending} open={() => open(one.id)} />
        ))}
      </ul>
      <RefusedLine error={change.error} />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} onMade={open} />}
    </Part>
  )
}

function Line({
  of: { name, slug, role, current, suspended, closed_at },
  isBusy,
  open,
}: {
  readonly of: Own
  readonly isBusy: boolean
  readonly open: () => void
}): ReactElement {
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line/55 last:border-b-0">
      <span className="min-w-0">
        <b className="font-strong">{name}</b> <span className="mono text-data text-ink-3">{slug}</span>
      </span>
      <span className="text-ink-3">{role}</span>
      {suspended && <Chip tone="retry">suspended</Chip>}
      {closed_at !== null && <Chip tone="paused">closed</Chip>}
      <span className="ml-auto">
        {current ? (
          <span className="text-ink-3">Current</span>
        ) : (
          <Button disabled={isBusy} aria-label={`Switch to ${name}`} onClick={open}>
            Switch
          </Button>
        )}
      </span>
    </li>
  )
}

function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState({ name: '', slug: '' })
  const create = useChange(['workspaces'], (client, body: NameAndSlug) => client.workspaces.create(body))
  return (
    <CreateWindow
      title="New workspace"
      lead={`You become the owner, and the console opens the new workspace. One person can own at most ${LIMITS.workspacesOwnedMax}.`}
      read={nameAndSlugIn(draft, 'Enter a workspace name.')}
      call={(body) => ({ route: routes.workspaces.create, body })}
      submit={(body) => create.mutate(body, { onSuccess: ({ workspace }) => onMade(workspace.id) })}
      change={create}
      verb="Create and open"
      onClose={onClose}
    >
      <NameAndSlugFields
        draft={draft}
        change={setDraft}
        hint="Optional. The first part of endpoint URLs. Leave empty to generate it from the name. You cannot change it later."
      />
    </CreateWindow>
  )
}
