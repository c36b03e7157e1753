import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { handedOver, useMailMode } from '../../../data/mail-mode.ts'
import { every } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { Part } from '../../../parts/detail.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { REQUESTED } from '../../../parts/requested.ts'
import { listIn } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { Chip, type Tone } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Request = RouteAnswer<Routes['ssoRequests']['list']>['requests'][number]

const TONES: Readonly<Record<Request['status'], Tone>> = {
  pending: 'sending',
  approved: 'ok',
  declined: 'fail',
  cancelled: 'none',
  superseded: 'none',
}

/** Single sign-on: the identity provider of the installation, and the requests of the workspace. */
export function Screen(): ReactElement {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal(routes.ssoRequests.create)
  const items = useCopyItemsOf()
  const asked = useAsk(['sso'], async (client, signal) => ({
    provider: (await client.sso.get(undefined, { signal })).sso.identity_provider,
    requests: await every(client.ssoRequests.list({ limit: 200 }, { signal })),
  }))
  const { data, error } = asked
  const mode = useMailMode()
  return (
    <SettingsPage
      title="Single sign-on"
      actions={
        <>
          <Button
            kind="primary"
            disabled={refusal !== undefined}
            title={refusal ?? 'Asks the operators to set up SSO'}
            onClick={() => setAsking(true)}
          >
            Request SSO
          </Button>
          <MoreMenu items={items({ route: routes.ssoRequests.list })} />
        </>
      }
    >
      {error !== null && data !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {data === undefined ? (
        error === null ? (
          <Loading rows={3} height={72} />
        ) : (
          <Refused error={error} again={asked.refetch} />
        )
      ) : (
        <div
          role="group"
          aria-label="Single sign-on"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
        >
          <Part
            title={
              data.provider === null ? 'Single sign-on is not set up' : `Members can sign in with ${data.provider.name}`
            }
            text={
              data.provider === null
                ? 'Members sign in with a password, a passkey or a one-time link.'
                : 'All workspaces of this installation share this identity provider.'
            }
          >
            <p className="text-ink-3">
              Only an operator can set up single sign-on, and it applies to the whole installation. A workspace cannot
              have a separate identity provider. To request SSO, send the email domains of your members. Owners get the
              operator’s decision by email.{handedOver(mode)}
            </p>
          </Part>
          <Part title="Requests">
            {data.requests.length === 0 ? (
              <p className="text-ink-3">Nobody has requested single sign-on yet.</p>
            ) : (
              <ul aria-label="Requests">
                {data.requests.map((one) => (
                  <Line key={one.id} of={one} />
                ))}
              </ul>
            )}
          </Part>
        </div>
      )}
      {isAsking && (
        <RequestDialog
          isPending={data?.requests.some(({ status }) => status === 'pending') === true}
          onClose={() => setAsking(false)}
        />
      )}
    </SettingsPage>
  )
}

function Line({
  of: { id, kinds, domains, note, status, requested_at, decided_at, reason },
}: {
  readonly of: Request
}): ReactElement {
  const [isCanceling, setCanceling] = useState(false)
  const refusal = useRefusal(routes.ssoRequests.cancel)
  const cancel = useChange(['sso'], (client) => client.ssoRequests.cancel({ id }))
  return (
    <li className="border-b border-line/55 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <b className="mono text-data font-strong break-all">{domains.join(', ')}</b>
        <span className="text-ink-3">{kinds.map((kind) => REQUESTED[kind]).join(', ')}</span>
        <Chip tone={TONES[status]}>{wordOf(status)}</Chip>
        <span className="ml-auto flex items-center gap-2 text-ink-3">
          <Time at={requested_at} />
          {status === 'pending' && (
            <Button disabled={refusal !== undefined} title={refusal} onClick={() => setCanceling(true)}>
              Cancel request
            </Button>
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
      {isCanceling && (
        <AskDialog
          title="Cancel this request?"
          verb="Cancel request"
          disabled={cancel.isPending}
          error={cancel.error}
          onClose={() => setCanceling(false)}
          onYes={() => cancel.mutate(undefined, { onSuccess: () => setCanceling(false) })}
        >
          <p className="mb-3 text-ink-2">
            The operators no longer see this request. You can create another request at any time.
          </p>
        </AskDialog>
      )}
    </li>
  )
}

type RequestBody = { readonly domains: string[]; readonly note: string | null }

function RequestDialog({
  isPending,
  onClose,
}: {
  readonly isPending: boolean
  readonly onClose: () => void
}): ReactElement {
  const [domains, setDomains] = useState('')
  const [note, setNote] = useState('')
  const toast = useToast()
  const mode = useMailMode()
  const request = useChange(['sso'], (client, sent: RequestBody) => client.ssoRequests.create(sent))
  const list = listIn(domains)
  return (
    <CreateWindow<RequestBody>
      title="Request single sign-on"
      lead={
        isPending
          ? 'The new request replaces the pending one.'
          : `An installation operator decides. The owners get the decision by email.${handedOver(mode)}`
      }
      read={
        list.length === 0
          ? { problem: 'Enter an email domain.' }
          : { body: { domains: list, note: note.trim() === '' ? null : note.trim() } }
      }
      call={(body) => ({ route: routes.ssoRequests.create, body })}
      submit={(body) =>
        request.mutate(body, {
          onSuccess: () => {
            toast({
              text:
                mode === 'outbox'
                  ? 'Requested. This page shows the decision.'
                  : 'Requested. The owners get the decision by email.',
            })
            onClose()
          },
        })
      }
      change={request}
      verb="Request SSO"
      onClose={onClose}
    >
      <TextArea
        label="Email domains"
        rows={3}
        placeholder="example.com"
        value={domains}
        onChange={({ target }) => setDomains(target.value)}
        hint={`The part after the @ in the email addresses of your members. One per line, at most ${LIMITS.ssoDomainsMax}.`}
      />
      <TextArea
        label="Note"
        rows={3}
        maxLength={LIMITS.ssoNoteCharsMax}
        value={note}
        onChange={({ target }) => setNote(target.value)}
        hint="Optional. A note for the operator, such as the name of your identity provider."
      />
    </CreateWindow>
  )
}
