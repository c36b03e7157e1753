import type { ReactElement } from 'react'
import { Field, Select } from '../../../ui/field.tsx'
import type { AuthDraft } from './auth-draft.ts'

const KINDS: readonly { readonly kind: AuthDraft['kind']; readonly label: string; readonly secret: string }[] = [
  { kind: 'none', label: 'Signature only', secret: '' },
  { kind: 'basic', label: 'Username and password', secret: 'Password' },
  { kind: 'bearer', label: 'Bearer token', secret: 'Token' },
  { kind: 'header', label: 'A custom header', secret: 'Value' },
  { kind: 'oauth2_client_credentials', label: 'OAuth 2 client credentials', secret: 'Client secret' },
  { kind: 'payload', label: 'A key in the body', secret: 'Key' },
  { kind: 'aws', label: 'AWS access key', secret: 'Secret access key' },
  { kind: 'google', label: 'Google service account', secret: 'Private key' },
]

type Props = {
  readonly draft: AuthDraft
  readonly set: (part: Partial<AuthDraft>) => void
  /** The secret of this kind is stored; an empty field leaves it unchanged. */
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
              For receivers that read a key from the body. Use this placeholder in the template:{' '}
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
          label="Username"
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
      {draft.kind === 'aws' && (
        <Field
          label="Access key ID"
          required
          value={draft.accessKeyId}
          autoComplete="off"
          onChange={({ target }) => set({ accessKeyId: target.value })}
        />
      )}
      {draft.kind === 'google' && (
        <Field
          label="Email of the service account"
          required
          placeholder="postroad@acme.iam.gserviceaccount.com"
          value={draft.clientEmail}
          autoComplete="off"
          onChange={({ target }) => set({ clientEmail: target.value })}
          hint="client_email and private_key are in the JSON key of the account."
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
          hint="Postroad encrypts the secret and never shows it again. Enter it again when the URL host changes."
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
        label="Client ID"
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
          hint="Optional. Separate with spaces."
        />
        <Field
          label="Audience"
          value={draft.audience}
          onChange={({ target }) => set({ audience: target.value })}
          hint="Optional. For servers that require an audience."
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
