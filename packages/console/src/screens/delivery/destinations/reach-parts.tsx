import type { RouteRequest, Routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Destination } from '../../../data/lists.ts'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Unsaved } from '../../../parts/unsaved.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field, TextArea } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Props = { readonly destination: Destination; readonly may: boolean }
type Update = RouteRequest<Routes['destinations']['update']>
type Reach = Pick<Update, 'tls' | 'proxy'>

function useReach(id: string) {
  const toast = useToast()
  const save = useChange(['destinations'], (client, reach: Reach) => client.destinations.update({ id, ...reach }))
  return {
    ...save,
    go: (reach: Reach, then: () => void) =>
      save.mutate(reach, {
        onSuccess: () => {
          then()
          toast({ text: 'Saved. It applies from the next attempt.' })
        },
      }),
  }
}

const NO_TLS = { certificate: '', private_key: '', ca: '' } as const

/** Mutual TLS, and private authorities of the receiver. */
export function TlsPart({ destination: { id, tls }, may }: Props): ReactElement {
  const [draft, setDraft] = useState<Record<keyof typeof NO_TLS, string>>(NO_TLS)
  const save = useReach(id)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const filled = Object.fromEntries(Object.entries(draft).filter(([, text]) => text.trim() !== ''))
    save.go({ tls: filled }, () => setDraft(NO_TLS))
  }
  const set = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part })
  const isEmpty = Object.values(draft).every((text) => text.trim() === '')
  return (
    <Part
      title="Client certificate"
      text="For receivers that require mutual TLS or use a private certificate authority."
      beside={
        tls !== null && (
          <Button
            kind="danger"
            disabled={!may || save.isPending}
            onClick={() => save.go({ tls: null }, () => setDraft(NO_TLS))}
          >
            Remove
          </Button>
        )
      }
    >
      {tls !== null && (
        <Facts
          of={[
            ...(tls.certificate === null
              ? []
              : [
                  [
                    'Certificate',
                    `${tls.certificate.subject}, until ${tls.certificate.expires_at.slice(0, 10)}`,
                  ] as const,
                ]),
            ...tls.ca.map((one) => ['Authority', `${one.subject}, until ${one.expires_at.slice(0, 10)}`] as const),
          ]}
        />
      )}
      <Unsaved isUnsaved={!isEmpty} />
      <details className="rounded-field border border-line px-3.5 open:pb-3">
        <summary className="flex h-9 cursor-default items-center font-control">
          {tls === null ? 'Set certificate' : 'Replace certificate'}
        </summary>
        <form onSubmit={submit} aria-label="Client certificate" className="pt-2">
          <fieldset disabled={!may}>
            <TextArea
              label="Certificate"
              rows={3}
              placeholder="-----BEGIN CERTIFICATE-----"
              value={draft.certificate}
              onChange={({ target }) => set({ certificate: target.value })}
              hint="PEM. You can append intermediate certificates."
            />
            <TextArea
              label="Private key"
              rows={3}
              placeholder="-----BEGIN PRIVATE KEY-----"
              value={draft.private_key}
              autoComplete="off"
              onChange={({ target }) => set({ private_key: target.value })}
              hint="PEM, without a passphrase. Postroad encrypts the key and never shows it."
            />
            <TextArea
              label="Authorities"
              rows={3}
              placeholder="-----BEGIN CERTIFICATE-----"
              value={draft.ca}
              onChange={({ target }) => set({ ca: target.value })}
              hint="Optional. PEM. Postroad trusts these authorities for this destination, in addition to the public ones."
            />
            <Button type="submit" kind="primary" disabled={!may || isEmpty || save.isPending}>
              Save certificate
            </Button>
          </fieldset>
        </form>
      </details>
      <div className="mt-2">
        <RefusedLine error={save.error} />
      </div>
    </Part>
  )
}

const NO_PROXY = { url: '', username: '', password: '' } as const

/** A forward proxy between this server and the receiver. */
export function ProxyPart({ destination: { id, proxy }, may }: Props): ReactElement {
  const [draft, setDraft] = useState<Record<keyof typeof NO_PROXY, string>>({
    ...NO_PROXY,
    url: proxy?.url ?? '',
    username: proxy?.username ?? '',
  })
  const save = useReach(id)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const { url, username, password } = draft
    save.go(
      { proxy: { url, ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) } },
      () => setDraft((now) => ({ ...now, password: '' })),
    )
  }
  const set = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part })
  const isUnsaved =
    draft.password !== '' || draft.url !== (proxy?.url ?? '') || draft.username !== (proxy?.username ?? '')
  return (
    <Part
      title="Forward proxy"
      text="Postroad sends deliveries through this proxy with HTTP CONNECT, to the IP address that it checked."
      beside={
        proxy !== null && (
          <Button
            kind="danger"
            disabled={!may || save.isPending}
            onClick={() => save.go({ proxy: null }, () => setDraft(NO_PROXY))}
          >
            Remove
          </Button>
        )
      }
    >
      <Unsaved isUnsaved={isUnsaved} />
      <form onSubmit={submit} aria-label="Forward proxy">
        <fieldset disabled={!may}>
          <Field
            label="Proxy URL"
            type="url"
            required
            placeholder="http://proxy.example.com:3128"
            value={draft.url}
            onChange={({ target }) => set({ url: target.value })}
            className="mono text-data"
          />
          <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
            <Field
              label="Proxy username"
              autoComplete="off"
              value={draft.username}
              onChange={({ target }) => set({ username: target.value })}
            />
            <Field
              label="Proxy password"
              type="password"
              autoComplete="new-password"
              placeholder={proxy?.has_password === true ? 'stored; leave empty to keep it' : ''}
              value={draft.password}
              onChange={({ target }) => set({ password: target.value })}
            />
          </div>
          <RefusedLine error={save.error} />
          <Button type="submit" kind="primary" className="mt-1" disabled={!may || !isUnsaved || save.isPending}>
            Save proxy
          </Button>
        </fieldset>
      </form>
    </Part>
  )
}
