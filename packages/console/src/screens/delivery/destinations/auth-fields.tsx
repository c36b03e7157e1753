import type { ReactElement } from 'react'
import { Field, Select } from '../../../ui/field.tsx'
import type { AuthDraft } from './auth-draft.ts'

const KINDS: readonly { readonly kind: AuthDraft['kind']; readonly label: string; readonly secret: string }[] = [
  { kind: 'none', label: 'Only the signature', secret: '' },
  { kind: 'basic', label: 'User name and password', secret: 'Password' },
  { kind: 'bearer', label: 'Bearer token', secret: 'Token' },
  { kind: 'header', label: 'A custom header', secret: 'Value' },
  { kind: 'oauth2_client_credentials', label: 'OAuth 2 client credentials', secret: 'Client secret' },
  { kind: 'payload', label: 'A key in the body', secret: 'Key' },
]

type Props = {
  readonly draft: AuthDraft
  readonly set: (part: Partial<AuthDraft>) => void
  /** The secret of this kind is stored; an empty field leaves it. */
  readonly isHeld: boolean
  /** The name that the receiver has for its secret, if it is known. */
  readonly secretName?: string | undefined
}

/** The authentication beyond the signature. Secrets are sealed and never shown again. */
export function AuthFields({ draft, set, isHeld, secretName }: Props): ReactElement {
  const secretLabel = secretName ?? KINDS.find(({ kind }) => kind === draft.kind)?.secret ?? ''
  return (
    <>
      <Select
        label="Method"
        value={draft.kind}
        onChange={({ target }) =>
          set({ kind: KINDS.find(({ kind }) => kind === target.value)?.kind ?? 'none', secret: '' })
        }
        hint={
          draft.kind === 'payload' ? (
            <>
              For receivers that read a key in the body: the template writes it as{' '}
              <code className="mono">{'{{ secret }}'}</code>.
            </>
          ) : undefined
        }
      >
        {KINDS.map(({ kind, label }) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </Select>
      {draft.kind === 'basic' && (
        <Field
          label="User name"
          required
          value={draft.username}
          autoComplete="off"
          onChange={({ target }) => set({ username: target.value })}
        />
      )}
      {draft.kind === 'header' && (
        <Field
          label="Header"
          required
          placeholder="X-Api-Key"
          value={draft.header}
          onChange={({ target }) => set({ header: target.value })}
          className="mono text-data"
        />
      )}
      {draft.kind === 'oauth2_client_credentials' && <OAuthFields draft={draft} set={set} />}
      {draft.kind !== 'none' && (
        <Field
          label={secretLabel}
          type="password"
          autoComplete="new-password"
          required={!isHeld}
          placeholder={isHeld ? 'stored; leave empty to keep it' : ''}
          value={draft.secret}
          onChange={({ target }) => set({ secret: target.value })}
          hint="Postroad encrypts it and never shows it again. If the host of the URL changes, enter it again."
        />
      )}
    </>
  )
}

function OAuthFields({ draft, set }: Pick<Props, 'draft' | 'set'>): ReactElement {
  return (
    <>
      <Field
        label="Token endpoint"
        type="url"
        required
        placeholder="https://login.example.com/oauth/token"
        value={draft.tokenUrl}
        onChange={({ target }) => set({ tokenUrl: target.value })}
        className="mono text-data"
      />
      <Field
        label="Client id"
        required
        value={draft.clientId}
        onChange={({ target }) => set({ clientId: target.value })}
      />
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        <Field
          label="Scope"
          placeholder="webhooks:write"
          value={draft.scope}
          onChange={({ target }) => set({ scope: target.value })}
          hint="Separated by spaces."
        />
        <Field
          label="Audience"
          value={draft.audience}
          onChange={({ target }) => set({ audience: target.value })}
          hint="For servers that require it."
        />
      </div>
      <Select
        label="Send client credentials"
        value={draft.clientAuth}
        onChange={({ target }) => set({ clientAuth: target.value === 'body' ? 'body' : 'basic' })}
      >
        <option value="basic">in the Authorization header</option>
        <option value="body">in the body</option>
      </Select>
    </>
  )
}
