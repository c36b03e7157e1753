import { LIMITS, routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Webhook } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Overlap } from '../../../parts/overlap.tsx'
import { Rotate } from '../../../parts/rotate.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { SignatureHelp } from '../../../parts/signature-tester.tsx'
import { Unsaved } from '../../../parts/unsaved.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { patchOf, verificationDraftOf, type VerificationDraft } from '../../../parts/verification-draft.ts'
import { VerificationFields } from './verification-fields.tsx'

/** The signature check, its secret, and the reason why a signature does not pass. */
export function VerificationTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const isSigned = webhook.verification.scheme !== 'none'
  return (
    <>
      <SchemePart webhook={webhook} />
      {isSigned && <RotatePart webhook={webhook} />}
      {isSigned && (
        <Part
          title="Why does it not match?"
          text="See the last request that was rejected because of its signature, or test another request."
        >
          <SignatureHelp webhook={webhook} />
        </Part>
      )}
    </>
  )
}

function SchemePart({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [draft, setDraft] = useState(() => verificationDraftOf(webhook))
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal(routes.webhooks.update)
  const may = refusal === undefined
  const toast = useToast()
  const save = useChange(['webhooks'], (client) =>
    client.webhooks.update({ id: webhook.id, verification: patchOf(draft) }),
  )
  const { scheme, has_secret } = webhook.verification
  const isHeld = scheme === draft.scheme && has_secret === true
  const isChanged = JSON.stringify(draft) !== JSON.stringify(verificationDraftOf(webhook))
  // A new scheme or secret ends two secrets: the stored one, and a previous one that still verifies.
  const endsSecret = has_secret === true && (scheme !== draft.scheme || draft.secret !== '')
  const run = (): void =>
    save.mutate(undefined, {
      onSuccess: () => {
        setAsking(false)
        setDraft((before) => ({ ...before, secret: '' }))
        toast({ text: 'Saved. It applies from the next request.' })
      },
    })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (endsSecret) setAsking(true)
    else run()
  }
  return (
    <Part title="Signature check">
      {scheme !== 'none' && has_secret !== true && (
        <p role="status" className="mb-3.5 rounded-field bg-fail-soft px-3 py-2 text-fail">
          This endpoint has no secret yet. It returns 401 to every request until you set one.
        </p>
      )}
      <form onSubmit={submit} aria-label="Signature check">
        <VerificationFields
          draft={draft}
          set={(part: Partial<VerificationDraft>) => setDraft({ ...draft, ...part })}
          isHeld={isHeld}
          disabled={!may}
        />
        {!isAsking && <RefusedLine error={save.error} />}
        <Button type="submit" kind="primary" className="mt-1" disabled={!may || save.isPending} title={refusal}>
          Save verification
        </Button>
      </form>
      <Unsaved isUnsaved={isChanged} />
      {isAsking && (
        <AskDialog
          title={draft.scheme === 'none' ? 'Turn off signature verification?' : 'Replace the secret now?'}
          verb={draft.scheme === 'none' ? 'Turn off' : 'Replace the secret'}
          disabled={save.isPending}
          error={save.error}
          onClose={() => setAsking(false)}
          onYes={run}
        >
          <p className="mb-3.5 text-ink-2">
            {draft.scheme === 'none'
              ? 'The stored secret stops working immediately, and anyone who knows the URL can send events. You cannot recover the secret.'
              : `The stored secret${(webhook.verification.previous_secret_expires_at ?? null) === null ? '' : ' and the previous secret'} stops working immediately. The endpoint then returns 401 to requests that are signed with it. To change the secret without downtime, rotate it instead.`}
          </p>
        </AskDialog>
      )}
    </Part>
  )
}

function RotatePart({ webhook: { id, verification } }: { readonly webhook: Webhook }): ReactElement {
  const [hours, setHours] = useState<number>(LIMITS.rotationOverlapHoursDefault)
  const [secret, setSecret] = useState('')
  const refusal = useRefusal(routes.webhooks.rotateVerificationSecret)
  const rotate = useChange(['webhooks'], (client, mayEnd: boolean) =>
    client.webhooks.rotateVerificationSecret({
      id,
      overlap_hours: hours,
      end_overlap: mayEnd,
      ...(secret === '' ? {} : { secret }),
    }),
  )
  const until = verification.previous_secret_expires_at ?? null
  const minted = rotate.data?.verification_secret
  return (
    <Part title="Rotate the secret" text="You can update the sender at any time while both secrets are valid.">
      <Facts
        of={[
          ['Secret', verification.has_secret === true ? 'stored, never shown' : 'none'],
          [
            'Previous secret',
            until === null ? (
              'none'
            ) : (
              <>
                also valid, expires <Countdown to={until} />
              </>
            ),
          ],
        ]}
      />
      <Overlap hours={hours} change={setHours} what="secret" />
      <Field
        label="New secret"
        type="password"
        autoComplete="new-password"
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
        hint="Copy the secret from the sender. Leave empty to generate a secret, which is shown once."
      />
      {minted !== undefined && (
        <SecretOnce
          label="New verification secret"
          secret={minted}
          note="Enter this secret at the sender. It is not shown again."
        />
      )}
      {rotate.data !== undefined && minted === undefined && (
        <p role="status" className="mb-3.5 text-ink-2">
          Postroad now accepts the new secret.
        </p>
      )}
      <Rotate
        what="secret"
        hours={hours}
        until={until}
        refused={refusal}
        rotate={rotate}
        onRotated={() => setSecret('')}
      />
      <Unsaved isUnsaved={secret !== ''} />
    </Part>
  )
}
