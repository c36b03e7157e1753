import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { handedOver, useMailMode } from '../../../data/mail-mode.ts'
import { every } from '../../../data/lists.ts'
import { CopyAs, useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { REQUESTED } from '../../../parts/requested.ts'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { Chip, type Tone } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Empty, RefusedLine } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { Area, type AreaProps } from './area.tsx'

type Request = RouteAnswer<Routes['platformSsoRequests']['list']>['requests'][number]
type Decision = 'approved' | 'declined'

const TONES: Readonly<Record<Request['status'], Tone>> = {
  pending: 'sending',
  approved: 'ok',
  declined: 'fail',
  cancelled: 'none',
  superseded: 'none',
}

/** The SSO requests of all workspaces; pending ones wait for a decision. */
export function SsoArea({ views }: AreaProps): ReactElement {
  const items = useCopyItemsOf()
  const asked = useAsk(['platformSsoRequests', 'all'], (client, signal) =>
    every(client.platformSsoRequests.list({ limit: 200 }, { signal })),
  )
  return (
    <Area
      views={views}
      label="SSO requests"
      asked={asked}
      actions={<MoreMenu items={items({ route: routes.platformSsoRequests.list })} />}
      foot={
        asked.data !== undefined && (
          <span>
            {counted(asked.data.length, 'request')}, {asked.data.filter(({ status }) => status === 'pending').length}{' '}
            pending
          </span>
        )
      }
    >
      {(all) =>
        all.length === 0 ? (
          <Empty title="No workspace has requested single sign-on">Requests appear here with their domains.</Empty>
        ) : (
          <ul aria-label="SSO requests">
            {all.map((one) => (
              <Line key={one.id} of={one} />
            ))}
          </ul>
        )
      }
    </Area>
  )
}

function Line({ of }: { readonly of: Request }): ReactElement {
  const { workspace, kinds, domains, note, status, requested_at, decided_at, reason } = of
  const [decision, setDecision] = useState<Decision | undefined>()
  return (
    <li className="border-b border-line/55 px-[18px] py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <b className="font-strong">{workspace.name}</b>
        <span className="mono text-data break-all">{domains.join(', ')}</span>
        <span className="text-ink-3">{kinds.map((kind) => REQUESTED[kind]).join(', ')}</span>
        <Chip tone={TONES[status]}>{wordOf(status)}</Chip>
        <span className="ml-auto flex items-center gap-2 text-ink-3">
          <Time at={requested_at} />
          {status === 'pending' && (
            <>
              <Button aria-label={`Decline ${workspace.name}`} onClick={() => setDecision('declined')}>
                Decline
              </Button>
              <Button aria-label={`Approve ${workspace.name}`} onClick={() => setDecision('approved')}>
                Approve
              </Button>
            </>
          )}
        </span>
      </div>
      {note !== null && <p className="mt-1 break-words whitespace-pre-wrap text-ink-2">{note}</p>}
      {decided_at !== null && (
        <p className="mt-1 text-ink-2">
          Decided <Time at={decided_at} />
          {reason !== null && `: ${reason}`}
        </p>
      )}
      {decision !== undefined && (
        <DecideDialog request={of} decision={decision} onClose={() => setDecision(undefined)} />
      )}
    </li>
  )
}

const FORM = 'decide-sso'

function DecideDialog({
  request: { id, workspace },
  decision,
  onClose,
}: {
  readonly request: Request
  readonly decision: Decision
  readonly onClose: () => void
}): ReactElement {
  const [reason, setReason] = useState('')
  const decide = useChange(['platformSsoRequests', 'sso'], (client) =>
    client.platformSsoRequests.decide({ id, status: decision, reason: reason.trim() }),
  )
  const mode = useMailMode()
  const verb = decision === 'approved' ? 'Approve' : 'Decline'
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    decide.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${verb} the request from ${workspace.name}?`}
      lead={`The workspace owners get the decision and the reason by email. You cannot change the decision later.${handedOver(mode)}`}
      actions={
        <>
          <CopyAs
            className="mr-auto"
            call={
              reason.trim() === ''
                ? undefined
                : {
                    route: routes.platformSsoRequests.decide,
                    params: { id },
                    body: { status: decision, reason: reason.trim() },
                  }
            }
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={decision === 'approved' ? 'primary' : 'danger'}
            type="submit"
            form={FORM}
            disabled={reason.trim() === '' || decide.isPending}
          >
            {verb}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <TextArea
          label="Reason"
          required
          rows={3}
          maxLength={LIMITS.ssoReasonCharsMax}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          hint="The reason and the next steps, for the workspace owners."
        />
        <RefusedLine error={decide.error} />
      </form>
    </Dialog>
  )
}
