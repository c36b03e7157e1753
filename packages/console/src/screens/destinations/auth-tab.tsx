import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import type { Destination } from '../../data/names.ts'
import { useMay } from '../../data/place.ts'
import { Facts, Part } from '../../parts/detail.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { needs, RefusedLine } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { authDraftOf, authOf, type AuthDraft } from './auth-draft.ts'
import { ProxyPart, TlsPart } from './reach-parts.tsx'

const KINDS: readonly { readonly kind: AuthDraft['kind']; readonly label: string; readonly secret: string }[] = [
  { kind: 'none', label: 'The signature alone', secret: '' },
  { kind: 'basic', label: 'User name and password', secret: 'Password' },
  { kind: 'bearer', label: 'Bearer token', secret: 'Token' },
  { kind: 'header', label: 'A header of its own', secret: 'Value' },
  { kind: 'oauth2_client_credentials', label: 'OAuth 2 client credentials', secret: 'Client secret' },
]

/** How the receiver knows who calls, beyond the signature. Secrets are sealed and never shown again. */
export function AuthTab({ destination }: { readonly destination: Destination }): ReactElement {
  const may = useMay(routes.destinations.update)
  return (
    <>
      {!may && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{needs(routes.destinations.update.role)}</p>}
      <AuthPart destination={destination} may={may} />
      <TlsPart destination={destination} may={may} />
      <ProxyPart destination={destination} may={may} />
    </>
  )
}

function AuthPart({ destination, may }: { readonly destination: Destination; readonly may: boolean }): ReactElement {
  const [draft, setDraft] = useState(() => authDraftOf(destination))
  const toast = useToast()
  const save = useChange(['destinations'], (client, auth: ReturnType<typeof authOf>) => client.destinations.update({ id: destination.id, auth }))
  const set = (part: Partial<AuthDraft>): void => setDraft({ ...draft, ...part })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate(authOf(draft), {
      onSuccess: () => {
        set({ secret: '' })
        toast({ text: 'Saved. It counts from the next attempt on.' })
      },
    })
  }
  const kinds = destination.auth.kind === 'payload' ? [...KINDS, { kind: 'payload' as const, label: 'A key in the body', secret: 'Key' }] : KINDS
  const secretLabel = kinds.find(({ kind }) => kind === draft.kind)?.secret ?? ''
  const isHeld = destination.auth.kind === draft.kind && destination.auth.has_secret === true
  return (
    <Part title="Who is calling" text="Sent with every delivery, beside the signature.">
      <form onSubmit={submit} aria-label="Authentication">
        <fieldset disabled={!may}>
          <Select label="Proved by" value={draft.kind} onChange={({ target }) => set({ kind: kinds.find(({ kind }) => kind === target.value)?.kind ?? 'none', secret: '' })}>
            {kinds.map(({ kind, label }) => <option key={kind} value={kind}>{label}</option>)}
          </Select>
          {draft.kind === 'basic' && <Field label="User name" required value={draft.username} autoComplete="off" onChange={({ target }) => set({ username: target.value })} />}
          {draft.kind === 'header' && <Field label="Header" required placeholder="X-Api-Key" value={draft.header} onChange={({ target }) => set({ header: target.value })} className="mono text-data" />}
          {draft.kind === 'oauth2_client_credentials' && <OAuthFields draft={draft} set={set} />}
          {draft.kind !== 'none' && <Field label={secretLabel} type="password" autoComplete="new-password" required={!isHeld} placeholder={isHeld ? 'held; leave empty to keep it' : ''} value={draft.secret} onChange={({ target }) => set({ secret: target.value })} hint="Stored sealed, never shown again. A change of the host of the URL needs it anew." />}
          <RefusedLine error={save.error} />
          <Button type="submit" kind="primary" className="mt-1" disabled={!may || save.isPending}>Save authentication</Button>
        </fieldset>
      </form>
      {draft.kind === 'oauth2_client_credentials' && <div className="mt-3.5"><Facts of={[['Access token', 'kept, and renewed before it ends and once after a 401']]} /></div>}
    </Part>
  )
}

function OAuthFields({ draft, set }: { readonly draft: AuthDraft; readonly set: (part: Partial<AuthDraft>) => void }): ReactElement {
  return (
    <>
      <Field label="Token endpoint" type="url" required placeholder="https://login.example.com/oauth/token" value={draft.tokenUrl} onChange={({ target }) => set({ tokenUrl: target.value })} className="mono text-data" />
      <Field label="Client id" required value={draft.clientId} onChange={({ target }) => set({ clientId: target.value })} />
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        <Field label="Scope" placeholder="webhooks:write" value={draft.scope} onChange={({ target }) => set({ scope: target.value })} hint="Separated by spaces." />
        <Field label="Audience" value={draft.audience} onChange={({ target }) => set({ audience: target.value })} hint="For servers that ask for it." />
      </div>
      <Select label="The client proves itself" value={draft.clientAuth} onChange={({ target }) => set({ clientAuth: target.value === 'body' ? 'body' : 'basic' })}>
        <option value="basic">in the Authorization header</option>
        <option value="body">in the body</option>
      </Select>
    </>
  )
}
