import { LIMITS, routes } from '@postroad/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { handedOver, useMailMode } from '../../../data/mail-mode.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { CopyMeta, Detail, Facts, Part } from '../../../parts/detail.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { planText } from '../../../parts/plan-text.ts'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Button } from '../../../ui/button.tsx'
import { Select, TextArea } from '../../../ui/field.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { utcMonthText } from '../../../ui/moments.ts'
import { Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { TONES, usedText, type PlatformWorkspace } from './platform-workspace.ts'

const ROOMS = ['platformWorkspaces']

/** One workspace as operators see it: its state, its plan, its usage, and a network list that locks everyone out. */
export function WorkspacePanel({
  of,
  onClose,
}: {
  readonly of: PlatformWorkspace
  readonly onClose: () => void
}): ReactElement {
  const { id, name, state, members, created_at, closed_at, usage, retained_events } = of
  const items = useCopyItemsOf()
  return (
    <Detail
      label="Workspace"
      title={name}
      chip={<Chip tone={TONES[state]}>{state}</Chip>}
      onClose={onClose}
      meta={<CopyMeta text={id} label="Copy ID" />}
      actions={
        <MoreMenu
          items={[
            ...items(
              { route: routes.platformWorkspaces.suspend, params: { id }, body: { reason: 'REASON' } },
              '“Suspend”',
            ),
            ...items({ route: routes.platformWorkspaces.reinstate, params: { id } }, '“Reinstate”'),
          ]}
        />
      }
    >
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        role="group"
        aria-label="Workspace"
        tabIndex={0}
      >
        <SuspensionPart of={of} />
        <Part title={`Usage in ${utcMonthText(usage.month)} (UTC)`}>
          <Facts
            of={[
              ['Events', usedText(usage.events, usage.max_events)],
              ['Deliveries', usedText(usage.deliveries, usage.max_deliveries)],
              ['Stored events', retained_events.toLocaleString('en')],
            ]}
          />
        </Part>
        <Part title="About">
          <Facts
            of={[
              ['Members', String(members)],
              ['Created', <Time key="created" at={created_at} />],
              ...(closed_at === null ? [] : [['Closed', <Time key="closed" at={closed_at} />] as const]),
            ]}
          />
        </Part>
        <PlanPart of={of} />
        <NetworkPart of={of} />
      </div>
    </Detail>
  )
}

/** Reads `me` again, because the change can affect the operator's workspace, whose banner reads `me`. */
function useMeAgain(): () => void {
  const asking = useQueryClient()
  return () => void asking.invalidateQueries({ queryKey: ['me'] })
}

function SuspensionPart({
  of: { id, name, suspended_at, suspended_reason },
}: {
  readonly of: PlatformWorkspace
}): ReactElement {
  const [asks, setAsks] = useState<'suspend' | 'reinstate' | undefined>()
  const readMe = useMeAgain()
  const toast = useToast()
  const reinstate = useChange(ROOMS, (client) => client.platformWorkspaces.reinstate({ id }))
  const isSuspended = suspended_at !== null
  return (
    <Part
      title={isSuspended ? 'Suspended' : 'Suspension'}
      text={
        isSuspended
          ? 'The workspace accepts no events, sends nothing and refuses changes. Stored data is not lost.'
          : 'Within a second of a suspension, the workspace accepts no events, sends no deliveries and allows no changes.'
      }
      beside={
        isSuspended ? (
          <Button kind="primary" onClick={() => setAsks('reinstate')}>
            Reinstate…
          </Button>
        ) : (
          <Button kind="danger" onClick={() => setAsks('suspend')}>
            Suspend…
          </Button>
        )
      }
    >
      {isSuspended && (
        <Facts
          of={[
            ['Since', <Time key="since" at={suspended_at} />],
            ['Reason', suspended_reason ?? 'none'],
          ]}
        />
      )}
      {asks === 'suspend' && <SuspendDialog id={id} name={name} onClose={() => setAsks(undefined)} />}
      {asks === 'reinstate' && (
        <AskDialog
          title={`Reinstate ${name}?`}
          verb="Reinstate"
          disabled={reinstate.isPending}
          error={reinstate.error}
          onClose={() => setAsks(undefined)}
          onYes={() =>
            reinstate.mutate(undefined, {
              onSuccess: () => {
                toast({ text: `${name} is active again.` })
                setAsks(undefined)
                readMe()
              },
            })
          }
        >
          <p className="mb-3 text-ink-2">
            The workspace accepts events again, and Postroad sends all paused deliveries without using an attempt.
          </p>
        </AskDialog>
      )}
    </Part>
  )
}

function SuspendDialog({
  id,
  name,
  onClose,
}: {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}): ReactElement {
  const [reason, setReason] = useState('')
  const readMe = useMeAgain()
  const toast = useToast()
  const mode = useMailMode()
  const suspend = useChange(ROOMS, (client, body: { readonly reason: string }) =>
    client.platformWorkspaces.suspend({ id, ...body }),
  )
  return (
    <CreateWindow
      title={`Suspend ${name}?`}
      lead={`The workspace stops accepting and sending events. Members see the reason; owners and admins also get it by email.${handedOver(mode)}`}
      read={reason.trim() === '' ? { problem: 'Enter a reason.' } : { body: { reason: reason.trim() } }}
      call={(body) => ({ route: routes.platformWorkspaces.suspend, params: { id }, body })}
      submit={(body) =>
        suspend.mutate(body, {
          onSuccess: () => {
            toast({ text: `${name} is suspended.` })
            onClose()
            readMe()
          },
        })
      }
      change={suspend}
      verb="Suspend"
      danger
      onClose={onClose}
    >
      <TextArea
        label="Reason"
        required
        rows={3}
        maxLength={LIMITS.suspensionReasonCharsMax}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        hint="Say why, and what lifts the suspension."
      />
    </CreateWindow>
  )
}

function PlanPart({ of: { id, plan } }: { readonly of: PlatformWorkspace }): ReactElement {
  const plans = useAsk(['platformSettings'], (client, signal) => client.platformSettings.get(undefined, { signal }))
    .data?.settings.plans
  const form = useSaveForm<string, string>({
    held: plan,
    read: (draft) => ({ body: draft }),
    route: routes.platformWorkspaces.setPlan,
    rooms: ROOMS,
    send: (client, next) => client.platformWorkspaces.setPlan({ id, plan: next }),
    countsFrom: 'now on, within a second',
  })
  return (
    <SaveForm label="Workspace plan" of={form} isPart>
      <Part
        title="Plan"
        text="After a change, Postroad sends the deliveries that wait for the allowance, up to the new limit."
      >
        <Select label="Plan name" value={form.draft} onChange={({ target }) => form.change(target.value)}>
          {[...new Set([plan, ...(plans ?? [])])].map((one) => (
            <option key={one} value={one}>
              {planText(one)}
            </option>
          ))}
        </Select>
      </Part>
    </SaveForm>
  )
}

function NetworkPart({ of: { id, name, network_restricted } }: { readonly of: PlatformWorkspace }): ReactElement {
  const [isAsking, setAsking] = useState(false)
  const clear = useChange(ROOMS, (client) => client.platformWorkspaces.clearNetwork({ id }))
  return (
    <Part
      title="Network access"
      text={
        network_restricted
          ? 'The workspace accepts requests only from listed addresses. Clear the list if its members are locked out.'
          : 'The workspace accepts requests from any address.'
      }
      beside={
        network_restricted && (
          <Button kind="danger" onClick={() => setAsking(true)}>
            Clear…
          </Button>
        )
      }
    >
      {isAsking && (
        <AskDialog
          title={`Allow any address to access ${name}?`}
          verb="Clear list"
          disabled={clear.isPending}
          error={clear.error}
          onClose={() => setAsking(false)}
          onYes={() => clear.mutate(undefined, { onSuccess: () => setAsking(false) })}
        >
          <p className="mb-3 text-ink-2">Starting with the next request, any address can access the workspace.</p>
        </AskDialog>
      )}
    </Part>
  )
}
