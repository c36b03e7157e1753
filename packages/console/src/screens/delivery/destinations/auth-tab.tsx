import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Destination } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Unsaved } from '../../../parts/unsaved.tsx'
import { Button } from '../../../ui/button.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { authDraftOf, authOf, type AuthDraft } from './auth-draft.ts'
import { AuthFields } from './auth-fields.tsx'
import { ProxyPart, TlsPart } from './reach-parts.tsx'

/** The authentication of deliveries, beyond the signature. Secrets are sealed and never shown again. */
export function AuthTab({ destination }: { readonly destination: Destination }): ReactElement {
  const refusal = useRefusal(routes.destinations.update)
  const may = refusal === undefined
  return (
    <>
      {!may && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{refusal}</p>}
      <AuthPart destination={destination} may={may} />
      <TlsPart destination={destination} may={may} />
      <ProxyPart destination={destination} may={may} />
    </>
  )
}

function AuthPart({ destination, may }: { readonly destination: Destination; readonly may: boolean }): ReactElement {
  const [draft, setDraft] = useState(() => authDraftOf(destination))
  const toast = useToast()
  const save = useChange(['destinations'], (client, auth: ReturnType<typeof authOf>) =>
    client.destinations.update({ id: destination.id, auth }),
  )
  const set = (part: Partial<AuthDraft>): void => setDraft({ ...draft, ...part })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate(authOf(draft), {
      onSuccess: () => {
        setDraft((now) => (now === draft ? { ...now, secret: '' } : now))
        toast({ text: 'Saved. It applies from the next attempt.' })
      },
    })
  }
  const isUnsaved = JSON.stringify(draft) !== JSON.stringify(authDraftOf(destination))
  const isHeld = destination.auth.kind === draft.kind && destination.auth.has_secret === true
  return (
    <Part title="Authentication" text="Postroad sends these credentials with every delivery, along with the signature.">
      <form onSubmit={submit} aria-label="Authentication">
        <fieldset disabled={!may}>
          <AuthFields draft={draft} set={set} isHeld={isHeld} />
          <RefusedLine error={save.error} />
          <Button type="submit" kind="primary" className="mt-1" disabled={!may || !isUnsaved || save.isPending}>
            Save authentication
          </Button>
        </fieldset>
      </form>
      <Unsaved isUnsaved={isUnsaved} />
      {destination.auth.kind === 'oauth2_client_credentials' && (
        <div className="mt-3.5">
          <Facts of={[['Access token', 'stored; renewed before it expires and after a 401']]} />
        </div>
      )}
    </Part>
  )
}
