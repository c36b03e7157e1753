import { LIMITS, routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Webhook } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Overlap } from '../../../parts/overlap.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { SignatureHelp } from '../../../parts/signature-tester.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { needs, RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { patchOf, verificationDraftOf, type VerificationDraft } from '../../../parts/verification-draft.ts'
import { VerificationFields } from './verification-fields.tsx'

/** Which signatures are checked, with which secret, and why one does not pass. */
export function VerificationTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const isSigned = webhook.verification.scheme !== 'none'
  return (
    <>
      <SchemePart webhook={webhook} />
      {isSigned && <RotatePart webhook={webhook} />}
      {isSigned && (
        <Part
          title="Why does it not match?"
          text="The last request that this endpoint refused for its signature, and a test of any other one."
        >
          <SignatureHelp webhook={webhook} />
        </Part>
      )}
    </>
  )
}

function SchemePart({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [draft, setDraft] = useState(() => verificationDraftOf(webhook))
  const may = useMay(routes.webhooks.update)
  const toast = useToast()
  const save = useChange(['webhooks'], (client) =>
    client.webhooks.update({ id: webhook.id, verification: patchOf(draft) }),
  )
  const { scheme, has_secret } = webhook.verification
  const isHeld = scheme === draft.scheme && has_secret === true
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate(undefined, {
      onSuccess: () => {
        setDraft((before) => ({ ...before, secret: '' }))
        toast({ text: 'Saved. It counts from the next request on.' })
      },
    })
  }
  return (
    <Part title="Signature check">
      {scheme !== 'none' && has_secret !== true && (
        <p role="status" className="mb-3.5 rounded-field bg-fail-soft px-3 py-2 text-fail">
          No secret is held: every request is answered 401 until you set it.
        </p>
      )}
      <form onSubmit={submit} aria-label="Signature check">
        <VerificationFields
          draft={draft}
          set={(part: Partial<VerificationDraft>) => setDraft({ ...draft, ...part })}
          isHeld={isHeld}
          disabled={!may}
        />
        <RefusedLine error={save.error} />
        <Button
          type="submit"
          kind="primary"
          className="mt-1"
          disabled={!may || save.isPending}
          title={may ? undefined : needs(routes.webhooks.update.role)}
        >
          Save the check
        </Button>
      </form>
    </Part>
  )
}

function RotatePart({ webhook: { id, verification } }: { readonly webhook: Webhook }): ReactElement {
  const [hours, setHours] = useState<number>(LIMITS.rotationOverlapHoursDefault)
  const [secret, setSecret] = useState('')
  const may = useMay(routes.webhooks.rotateVerificationSecret)
  const rotate = useChange(['webhooks'], (client) =>
    client.webhooks.rotateVerificationSecret({ id, overlap_hours: hours, ...(secret === '' ? {} : { secret }) }),
  )
  const until = verification.previous_secret_expires_at ?? null
  const minted = rotate.data?.verification_secret
  return (
    <Part title="Rotate the secret" text="While both verify, your sender may change over at any moment.">
      <Facts
        of={[
          ['Secret', verification.has_secret === true ? 'held, never shown' : 'none'],
          [
            'Former secret',
            until === null ? (
              'none'
            ) : (
              <>
                verifies too, ends <Countdown to={until} />
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
        hint="As your sender shows it. Left empty, one is made here, and shown once."
      />
      {minted !== undefined && (
        <SecretOnce
          label="New verification secret"
          secret={minted}
          note="Set it at the sender. It is not shown again."
        />
      )}
      {rotate.data !== undefined && minted === undefined && (
        <p role="status" className="mb-3.5 text-ink-2">
          The new secret verifies from now on.
        </p>
      )}
      <RefusedLine error={rotate.error} />
      <Button
        kind="danger"
        disabled={!may || rotate.isPending}
        title={may ? 'Replaces the secret' : needs(routes.webhooks.rotateVerificationSecret.role)}
        onClick={() => rotate.mutate(undefined, { onSuccess: () => setSecret('') })}
      >
        Rotate the secret
      </Button>
    </Part>
  )
}
