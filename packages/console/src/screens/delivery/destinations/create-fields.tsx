import type { ReactElement, ReactNode } from 'react'
import { Field } from '../../../ui/field.tsx'
import { authOf } from './auth-draft.ts'
import { AuthFields } from './auth-fields.tsx'
import { bodyDraftOfPreset, bodyMembersOf } from './body-draft.ts'
import type { CreateDraft } from './create-draft.ts'
import { bodyOf, type DestinationDraft } from './draft.ts'
import { HeaderFields, KindFields, OrderFields, RetryFields, WhatFields, WhereFields } from './form.tsx'
import { Preview } from './preview.tsx'
import type { Preset } from './presets.tsx'
import type { Receiver } from './record-select.tsx'
import { TemplateFields } from './template-fields.tsx'

type Props = {
  readonly preset: Preset
  readonly draft: CreateDraft
  readonly change: (part: Partial<CreateDraft>) => void
}

const BODY_TITLES = {
  envelope: 'Body: envelope',
  data: 'Body: payload only',
  thin: 'Body: thin',
  as_received: 'Body: as received',
} as const

/** The required settings are open; those of the preset are folded. */
export function CreateFields({ preset, draft: { settings, auth, content }, change }: Props): ReactElement {
  const fields = {
    draft: settings,
    change: (part: Partial<DestinationDraft>) => change({ settings: { ...settings, ...part } }),
  }
  const set = (part: Partial<typeof auth>): void => change({ auth: { ...auth, ...part } })
  const held = bodyDraftOfPreset(preset).template
  const read = bodyMembersOf(content)
  // A URL that is not complete yet has no preview.
  const body = bodyOf(settings)
  const canPreview = 'body' in read && 'body' in body && URL.canParse(settings.url.trim())
  return (
    <>
      {preset.docs_url !== null && preset.id !== 'generic' && (
        <p className="mb-3.5">
          <a
            href={preset.docs_url}
            target="_blank"
            rel="noreferrer"
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            What {preset.name} writes about it
          </a>
        </p>
      )}
      <WhereFields {...fields} urlLike={preset.url} />
      <KindFields {...fields} />
      {preset.secret !== null && (
        <Field
          label={preset.secret}
          type="password"
          autoComplete="new-password"
          required
          value={auth.secret}
          onChange={({ target }) => set({ secret: target.value })}
          hint="Postroad encrypts the secret and never shows it again."
        />
      )}
      <WhatFields {...fields} />
      <Folded
        title={
          content.template === null
            ? BODY_TITLES[content.form]
            : preset.id === 'generic'
              ? 'Body: custom JSON'
              : `Body: a message for ${preset.name}`
        }
      >
        <TemplateFields
          draft={content}
          kind={'body' in body ? (body.body.config?.kind ?? 'http') : 'http'}
          held={held}
          change={(next) => change({ content: next })}
        />
        <h3 className="mb-2 font-control">Request preview</h3>
        {!URL.canParse(settings.url.trim()) && <p className="mb-3 text-ink-3">Enter the URL first.</p>}
        {URL.canParse(settings.url.trim()) && (
          <div className="mb-3">
            <Preview
              receiver={receiverOf(settings)}
              settings={
                canPreview
                  ? {
                      url: settings.url.trim(),
                      config: body.body.config,
                      auth: authOf({ ...auth, secret: '' }),
                      ...read.body,
                    }
                  : undefined
              }
            />
          </div>
        )}
      </Folded>
      {preset.secret === null && (
        <Folded title="Authentication">
          <AuthFields draft={auth} set={set} isHeld={false} />
        </Folded>
      )}
      <Folded title={settings.orderPath === null ? 'Order: in parallel' : 'Order: by key'}>
        <OrderFields {...fields} />
      </Folded>
      <Folded title="Retries, headers and limits">
        <RetryFields {...fields} />
        <HeaderFields {...fields} />
      </Folded>
    </>
  )
}

/** The request that a destination with these settings would receive. */
function receiverOf(settings: DestinationDraft): Receiver {
  const read = bodyOf(settings)
  return 'body' in read ? { datasets: read.body.datasets, conditions: read.body.conditions } : {}
}

function Folded({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactElement {
  return (
    <details className="mb-2 rounded-field border border-line px-3.5 open:pb-1">
      <summary className="flex h-9 cursor-default items-center font-control">{title}</summary>
      <div className="pt-2">{children}</div>
    </details>
  )
}
