import { HANDSHAKE_KINDS, type HandshakeKind } from '@postroad/contract'
import { KNOWN_HANDSHAKES } from '@postroad/contract/handshake-forms'
import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { Part } from '../../../parts/detail.tsx'
import { Field, Select, TextArea } from '../../../ui/field.tsx'
import { formDraftOf, knownIn, tokenNeedOf, type FormDraft, type HandshakeDraft } from './handshake-draft.ts'

const KIND_NAMES: Readonly<Record<HandshakeKind, string>> = {
  none: 'None',
  hub_challenge: 'hub.challenge with a token (Meta)',
  url_verification: 'url_verification (Slack)',
  sns_subscription: 'Amazon SNS',
  discord_ping: 'Discord',
  zoom_validation: 'Zoom',
  twitch_challenge: 'Twitch',
  custom: 'Custom',
}

type Props<Draft> = {
  readonly draft: Draft
  readonly disabled: boolean
  readonly change: (part: Partial<Draft>) => void
}

/** The question that a provider asks before it sends events, and the answer. */
export function HandshakePart({
  draft,
  disabled,
  change,
  hasToken,
}: Props<HandshakeDraft> & { readonly hasToken: boolean }): ReactElement {
  const { kind, form } = draft
  const known = kind === 'custom' ? knownIn(form) : undefined
  const need = tokenNeedOf(draft)
  const choose = (id: string): void => {
    const provider = KNOWN_HANDSHAKES.find((one) => one.id === id)
    if (provider !== undefined) change({ kind: 'custom', form: formDraftOf(provider.form), source: provider.form })
    else change({ kind: HANDSHAKE_KINDS.find((one) => one === id) ?? 'none' })
  }
  return (
    <Part
      title="Handshake"
      text="The request that a provider sends to verify that you own the endpoint, before it sends events."
    >
      <Select
        label="Kind of handshake"
        value={known ?? kind}
        disabled={disabled}
        onChange={({ target }) => choose(target.value)}
        hint="Choose your provider, or describe its request under Custom. Postroad does not store such a request."
      >
        {HANDSHAKE_KINDS.filter((id) => id !== 'custom').map((id) => (
          <option key={id} value={id}>
            {KIND_NAMES[id]}
          </option>
        ))}
        {KNOWN_HANDSHAKES.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        <option value="custom">{KIND_NAMES.custom}</option>
      </Select>
      {kind === 'custom' && (
        <FormFields draft={form} disabled={disabled} change={(part) => change({ form: { ...form, ...part } })} />
      )}
      {need !== 'none' && (
        <Field
          label="Verify token"
          type="password"
          autoComplete="new-password"
          value={draft.token}
          disabled={disabled}
          placeholder={hasToken ? 'stored; leave empty to keep it' : ''}
          onChange={({ target }) => change({ token: target.value })}
          hint={
            need === 'required'
              ? 'Enter the same token at the provider. Write-only.'
              : 'Optional. If set, the request must contain this token. Write-only.'
          }
        />
      )}
    </Part>
  )
}

function FormFields({ draft, disabled, change }: Props<FormDraft>): ReactElement {
  const { method, question, proof, tokenAt } = draft
  return (
    <>
      <Choice
        label="Method of the request"
        disabled={disabled}
        of={[
          { id: 'any', label: 'POST or GET' },
          { id: 'POST', label: 'POST' },
          { id: 'GET', label: 'GET' },
          { id: 'OPTIONS', label: 'OPTIONS' },
        ]}
        at={method}
        go={(id) => change({ method: id })}
      />
      <TextArea
        label="How to recognize the request"
        rows={3}
        placeholder={'query challenge\nheader X-Hook-Secret\nbody type = "url_verification"'}
        value={question}
        disabled={disabled}
        onChange={({ target }) => change({ question: target.value })}
        hint="One place per line: query, header or body, and a name. Each must contain text, or the value after =. For the body, “absent” after a path means that the body has no such member."
      />
      <Choice
        label="Proof"
        disabled={disabled}
        of={[
          { id: 'none', label: 'None' },
          { id: 'token', label: 'Verify token' },
          { id: 'signature', label: 'Signature' },
        ]}
        at={proof}
        go={(id) => change({ proof: id })}
        hint={
          proof === 'signature'
            ? 'Postroad answers after the signature check of the endpoint.'
            : proof === 'none'
              ? 'Postroad answers anyone who knows the URL, before the signature check.'
              : undefined
        }
      />
      {proof === 'token' && (
        <Field
          label="Place of the token"
          placeholder="query hub.verify_token"
          value={tokenAt}
          disabled={disabled}
          onChange={({ target }) => change({ tokenAt: target.value })}
          className="mono text-data"
        />
      )}
      <AnswerFields draft={draft} disabled={disabled} change={change} />
    </>
  )
}

function AnswerFields({ draft: { status, type, body, headers }, disabled, change }: Props<FormDraft>): ReactElement {
  return (
    <>
      <Choice
        label="Status of the answer"
        disabled={disabled}
        of={[
          { id: '200', label: '200' },
          { id: '201', label: '201' },
          { id: '202', label: '202' },
          { id: '204', label: '204' },
        ]}
        at={`${status}`}
        go={(id) => change({ status: STATUSES[id] })}
      />
      <Choice
        label="Content type of the answer"
        disabled={disabled}
        of={[
          { id: 'text/plain', label: 'Text' },
          { id: 'application/json', label: 'JSON' },
        ]}
        at={type}
        go={(id) => change({ type: id })}
      />
      {status !== 204 && (
        <TextArea
          label="Body of the answer"
          rows={3}
          placeholder={type === 'text/plain' ? '{{ query.challenge }}' : '{"challenge": "{{ body.challenge }}"}'}
          value={body}
          disabled={disabled}
          onChange={({ target }) => change({ body: target.value })}
          hint="{{ query.x }}, {{ header.x }} and {{ body.x }} are values of the request, and {{ hmac_sha256 body.x }} is a signature with the verification secret. In JSON they are inside quotes."
        />
      )}
      <TextArea
        label="Headers of the answer"
        rows={2}
        placeholder="X-Hook-Secret: {{ header.x-hook-secret }}"
        value={headers}
        disabled={disabled}
        onChange={({ target }) => change({ headers: target.value })}
        hint="One per line. Leave empty to send none."
      />
    </>
  )
}

const STATUSES = { 200: 200, 201: 201, 202: 202, 204: 204 } as const
