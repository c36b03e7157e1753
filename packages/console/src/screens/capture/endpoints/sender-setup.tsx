import { LIMITS } from '@postroad/contract'
import { verifyTokenNeed } from '@postroad/contract/handshake'
import { useState, type FormEvent, type ReactElement, type ReactNode } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { sendEvent } from '../../../data/client.ts'
import type { Webhook } from '../../../data/lists.ts'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { createBodyOf, createDraftOf, shortNameOf, type CheckedSender } from '../../../parts/senders.ts'
import { patchOf, verificationDraftOf } from '../../../parts/verification-draft.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { VerifyTokenField } from './verify-token-field.tsx'
import { SenderSteps } from './sender-steps.tsx'

const LIVE_MS = 2_000
const SHOWN_MAX = 4

type Props = {
  readonly sender: CheckedSender
  readonly onBack: () => void
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}

/** Sets up a sender that signs, in the only possible order: its URL for the sender, then the secret of the sender, then a test. */
export function SenderSetup({ sender, onBack, onClose, onMade }: Props): ReactElement {
  const [draft, setDraft] = useState(() => createDraftOf(sender))
  const [secret, setSecret] = useState('')
  const create = useChange(['webhooks'], (client) => client.webhooks.create(createBodyOf(sender, draft)))
  const webhook = create.data?.webhook
  const store = useChange(['webhooks'], (client, of: Webhook) =>
    client.webhooks.update({ id: of.id, verification: patchOf({ ...verificationDraftOf(of), secret }) }),
  )
  const name = shortNameOf(sender)
  const isStored = store.isSuccess
  const isUnnamed = draft.name.trim() === ''
  return (
    <Dialog
      open
      wide
      onClose={() => (webhook === undefined ? onClose() : onMade(webhook.id))}
      title={`New endpoint: ${sender.name}`}
      lead={`Add the URL to ${name}, copy the secret from ${name}, then send a test.`}
      actions={
        webhook === undefined ? (
          <>
            <Button onClick={onBack}>Back</Button>
            <CopyAs
              className="mr-auto"
              call={
                isUnnamed
                  ? undefined
                  : {
                      method: 'POST',
                      path: 'webhooks',
                      body: createBodyOf(sender, { ...draft, verifyToken: 'YOUR_VERIFY_TOKEN' }),
                    }
              }
            />
            <Button onClick={onClose}>Cancel</Button>
          </>
        ) : (
          <Button kind={isStored ? 'primary' : 'normal'} onClick={() => onMade(webhook.id)}>
            {isStored ? 'Done' : 'Finish later'}
          </Button>
        )
      }
    >
      <ol>
        <Step number={1} title="Create the URL" isDone={webhook !== undefined}>
          {webhook === undefined ? (
            <UrlForm
              sender={sender}
              draft={draft}
              change={(part) => setDraft({ ...draft, ...part })}
              isRunning={create.isPending}
              error={create.error}
              onCreate={() => create.mutate(undefined)}
            />
          ) : (
            <>
              <div className="flex min-h-10 items-center gap-3 rounded-page border border-line-2 px-3.5">
                <span className="mono font-control text-data text-accent">POST</span>
                <code className="mono min-w-0 flex-1 text-data break-all">{webhook.public_url}</code>
                <CopyButton text={webhook.public_url} label="Copy the URL" />
              </div>
              <SenderSteps sender={sender} />
            </>
          )}
        </Step>
        <Step number={2} title="Add the secret" isDone={isStored} isAhead={webhook === undefined}>
          {webhook !== undefined &&
            (isStored ? (
              <p role="status" className="text-ink-2">
                Postroad stored the secret. The endpoint now accepts only requests that are signed with it.
              </p>
            ) : (
              <SecretForm
                secret={secret}
                change={setSecret}
                name={name}
                secretName={sender.secretName ?? 'Secret'}
                isRunning={store.isPending}
                error={store.error}
                onStore={() => store.mutate(webhook)}
              />
            ))}
        </Step>
        <Step number={3} title="Send a test" isDone={false} isAhead={!isStored}>
          {webhook !== undefined && isStored && <TestPart sender={sender} webhook={webhook} />}
        </Step>
      </ol>
    </Dialog>
  )
}

function Step({
  number,
  title,
  isDone,
  isAhead = false,
  children,
}: {
  readonly number: number
  readonly title: string
  readonly isDone: boolean
  /** The steps before it are not done yet. */
  readonly isAhead?: boolean
  readonly children: ReactNode
}): ReactElement {
  return (
    <li className="relative mb-4 pl-9 last:mb-0">
      <span
        aria-hidden
        className={`mono absolute top-0 left-0 grid size-6 place-items-center rounded-full border text-data ${isDone ? 'border-transparent bg-ok-soft text-ok-text' : 'border-line-2 text-ink-3'}`}
      >
        {isDone ? '✓' : number}
      </span>
      <h3 className={`mb-1.5 font-strong leading-6 ${isAhead ? 'text-ink-3' : ''}`}>{title}</h3>
      {children}
    </li>
  )
}

type Draft = ReturnType<typeof createDraftOf>

function UrlForm({
  sender,
  draft,
  change,
  isRunning,
  error,
  onCreate,
}: {
  readonly sender: CheckedSender
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
  readonly isRunning: boolean
  readonly error: Error | null
  readonly onCreate: () => void
}): ReactElement {
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onCreate()
  }
  return (
    <form onSubmit={submit} aria-label="First the URL">
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="Name"
          required
          maxLength={LIMITS.nameCharsMax}
          value={draft.name}
          onChange={({ target }) => change({ name: target.value })}
        />
        <Field
          label="Dataset"
          placeholder="made from the name"
          value={draft.dataset}
          onChange={({ target }) => change({ dataset: target.value })}
          className="mono text-data"
        />
      </div>
      {verifyTokenNeed(sender.handshake) === 'required' && (
        <VerifyTokenField value={draft.verifyToken} change={(verifyToken) => change({ verifyToken })} />
      )}
      <RefusedLine error={error} />
      <Button type="submit" kind="primary" disabled={draft.name.trim() === '' || isRunning}>
        Create the URL
      </Button>
    </form>
  )
}

function SecretForm({
  secret,
  change,
  name,
  secretName,
  isRunning,
  error,
  onStore,
}: {
  readonly secret: string
  readonly change: (secret: string) => void
  readonly name: string
  readonly secretName: string
  readonly isRunning: boolean
  readonly error: Error | null
  readonly onStore: () => void
}): ReactElement {
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onStore()
  }
  return (
    <form onSubmit={submit} aria-label="Then its secret">
      <Field
        label="Secret"
        type="password"
        autoComplete="new-password"
        required
        autoFocus
        value={secret}
        onChange={({ target }) => change(target.value)}
        hint={`${secretName === 'Secret' ? 'The secret' : `${secretName}: the secret`} that ${name} signs requests with. Write-only. The endpoint rejects every request with 401 until you store the secret.`}
      />
      <RefusedLine error={error} />
      <Button type="submit" kind="primary" disabled={secret === '' || isRunning}>
        Store the secret
      </Button>
    </form>
  )
}

/** Nobody can read a stored token back, and only a sender has its private key. */
const UNSIGNABLE: ReadonlySet<string> = new Set([
  'public_key',
  'static_token',
  'basic_auth',
  'oidc_bearer',
  'aws_sns',
  'paypal',
])

/** Sends a signed sample, and shows what arrives, from here or from the sender. */
function TestPart({ sender, webhook }: { readonly sender: CheckedSender; readonly webhook: Webhook }): ReactElement {
  const send = useChange(['activity'], async (client) => {
    const { body, headers } = sampleOf(sender)
    const signed = await client.webhooks.signSample({ id: webhook.id, body })
    return sendEvent(webhook.public_path, { body, headers: { ...headers, ...signed.headers } })
  })
  const activity = useAsk(
    ['activity', 'setup', webhook.id],
    (client, signal) => client.activity.list({ id: webhook.id, limit: SHOWN_MAX }, { signal }),
    { everyMs: LIVE_MS },
  )
  const rows = activity.data?.rows
  const { scheme, additive } = sender.verification
  const isSignable =
    !UNSIGNABLE.has(scheme) &&
    [additive?.['signature_path'], additive?.['timestamp_path']].every((path) => (path ?? null) === null)
  return (
    <>
      <div className="flex items-center gap-3">
        {isSignable ? (
          <>
            <Button kind="primary" disabled={send.isPending} onClick={() => send.mutate(undefined)}>
              Send a signed test
            </Button>
            <span className="text-ink-3">Or send one from {shortNameOf(sender)}. It appears here.</span>
          </>
        ) : (
          <span className="text-ink-3">
            Send a test from {shortNameOf(sender)}. Only the sender can sign the test. The event appears here.
          </span>
        )}
      </div>
      <div className="mt-2">
        <RefusedLine error={send.error ?? activity.error} />
      </div>
      <ul aria-label="What arrived" aria-live="polite" className="mt-2 rounded-field border border-line">
        {rows?.length === 0 && <li className="flex h-9 items-center px-3 text-ink-3">Nothing has arrived yet.</li>}
        {rows?.map(({ id, kind, at, status, reason }) => (
          <li key={id} className="flex h-9 items-center gap-3 border-b border-line/55 px-3 last:border-b-0">
            <Glyph tone={kind === 'received' ? 'ok' : 'rejected'} label={kind === 'received' ? 'stored' : 'rejected'} />
            <Time at={at} />
            <span className={`mono text-data font-control ${kind === 'received' ? 'text-ok-text' : 'text-fail'}`}>
              {status}
            </span>
            <span>
              {kind === 'received'
                ? 'Stored. The signature is valid.'
                : `Rejected: ${reason?.replaceAll('_', ' ') ?? ''}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** An event that never repeats an earlier test. */
function sampleOf({ idempotency, verification }: CheckedSender): {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
} {
  const id = `test_${Date.now()}`
  const inHeader = idempotency !== null && 'header' in idempotency
  const fields = { id, event_id: id, type: 'test', message: 'A test from the console' }
  const isForm = String(verification.additive?.['signed'] ?? '').includes('{form}')
  if (isForm)
    return {
      body: String(new URLSearchParams(fields)),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
  return {
    body: JSON.stringify(fields),
    headers: inHeader ? { [idempotency.header]: id } : {},
  }
}
