import { routes, type RouteRequest, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Webhook } from '../../../data/lists.ts'
import { Choice } from '../../../parts/choice.tsx'
import { Part } from '../../../parts/detail.tsx'
import { fieldsOf, SaveForm, useSaveForm, type SaveFormState } from '../../../parts/save-form.tsx'
import { listIn } from '../../../parts/text-list.ts'
import { Check, Field, TextArea } from '../../../ui/field.tsx'
import { handshakeDraftOf, handshakeOf, type HandshakeDraft } from './handshake-draft.ts'
import { HandshakePart } from './handshake-part.tsx'
import { readingDraftOf, readingOf, type ReadingDraft } from './reading-draft.ts'
import { ReadingPart } from './reading-part.tsx'
import { responseDraftOf, responseOf, type ResponseDraft } from './response-draft.ts'
import { ResponsePart } from './response-part.tsx'

type Draft = {
  readonly addresses: string
  /** null: any origin is allowed. */
  readonly origins: string | null
  readonly handshake: HandshakeDraft
  readonly response: ResponseDraft
  readonly reading: ReadingDraft
  readonly repeats: 'standard' | 'header' | 'path'
  readonly repeatsBy: string
  readonly title: 'known' | 'header' | 'path'
  readonly titleBy: string
  readonly samples: boolean
}

function draftOf(webhook: Webhook): Draft {
  const { ip_allowlist, cors, handshake, response, idempotency, event_title, refused_samples } = webhook
  const by = idempotency === null ? '' : 'header' in idempotency ? idempotency.header : idempotency.path
  return {
    addresses: ip_allowlist.join('\n'),
    origins: cors === null ? null : cors.origins.join('\n'),
    handshake: handshakeDraftOf(handshake),
    response: responseDraftOf(response),
    reading: readingDraftOf(webhook),
    repeats: idempotency === null ? 'standard' : 'header' in idempotency ? 'header' : 'path',
    repeatsBy: by,
    title: event_title === null ? 'known' : 'header' in event_title ? 'header' : 'path',
    titleBy: event_title === null ? '' : 'header' in event_title ? event_title.header : event_title.path,
    samples: refused_samples,
  }
}

type Update = RouteRequest<Routes['webhooks']['update']>

function bodyOf(draft: Draft): { readonly body: Omit<Update, 'id'> } | { readonly problem: string } {
  const { addresses, origins, response, reading, repeats, repeatsBy, title, titleBy, samples } = draft
  const by = repeatsBy.trim()
  const handshake = handshakeOf(draft.handshake)
  if ('problem' in handshake) return handshake
  const body = {
    ip_allowlist: listIn(addresses),
    cors: origins === null ? null : { origins: listIn(origins) },
    handshake: handshake.value,
    response: responseOf(response),
    ...readingOf(reading),
    idempotency: repeats === 'standard' ? null : repeats === 'header' ? { header: by } : { path: by },
    event_title: title === 'known' ? null : title === 'header' ? { header: titleBy.trim() } : { path: titleBy.trim() },
    refused_samples: samples,
  }
  return { body }
}

/** The allowed senders and addresses, the handshake of a provider, the response, and the definition of a repeat. */
export function AccessTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const form = useSaveForm({
    held: draftOf(webhook),
    read: bodyOf,
    route: routes.webhooks.update,
    rooms: ['webhooks'],
    send: (client, body) => client.webhooks.update({ id: webhook.id, ...body }),
    countsFrom: 'the next request',
  })
  const { draft, disabled, change } = fieldsOf(form)
  return (
    <SaveForm label="Access" of={form}>
      <Part title="Addresses" text="If you list addresses, Postroad returns 403 to all others.">
        <TextArea
          label="IP allowlist"
          rows={3}
          placeholder="Any address"
          value={draft.addresses}
          disabled={disabled}
          onChange={({ target }) => change({ addresses: target.value })}
          hint="IPv4 and IPv6 addresses and CIDR ranges such as 203.0.113.0/24, one per line. Leave empty to allow any address."
        />
      </Part>
      <Part
        title="Browsers"
        text="The web pages that can post to this endpoint. Requests from servers are not affected."
      >
        <Choice
          label="Origins"
          disabled={disabled}
          of={[
            { id: 'any', label: 'Any page' },
            { id: 'some', label: 'Only listed pages' },
          ]}
          at={draft.origins === null ? 'any' : 'some'}
          go={(id) => change({ origins: id === 'any' ? null : '' })}
        />
        {draft.origins !== null && (
          <TextArea
            label="Allowed origins"
            rows={2}
            placeholder="https://shop.example"
            value={draft.origins}
            disabled={disabled}
            onChange={({ target }) => change({ origins: target.value })}
            hint="One per line. If the list is empty, no page can post."
          />
        )}
      </Part>
      <HandshakePart
        draft={draft.handshake}
        disabled={disabled}
        change={(part) => change({ handshake: { ...draft.handshake, ...part } })}
        hasToken={webhook.handshake.has_verify_token === true}
      />
      <ResponsePart
        draft={draft.response}
        disabled={disabled}
        change={(part) => change({ response: { ...draft.response, ...part } })}
      />
      <ReadingPart
        draft={draft.reading}
        disabled={disabled}
        change={(part) => change({ reading: { ...draft.reading, ...part } })}
      />
      <Part
        title="Duplicates"
        text="If the same event arrives again within 7 days, Postroad does not store the event again. The sender gets 200 with the first response, or the response above."
      >
        <Choice
          label="Event key"
          disabled={disabled}
          of={[
            { id: 'standard', label: 'Idempotency-Key' },
            { id: 'header', label: 'Another header' },
            { id: 'path', label: 'In the payload' },
          ]}
          at={draft.repeats}
          go={(repeats) => change({ repeats, repeatsBy: '' })}
        />
        {draft.repeats !== 'standard' && (
          <Field
            label={draft.repeats === 'header' ? 'Header name' : 'Path'}
            required
            placeholder={draft.repeats === 'header' ? 'X-GitHub-Delivery' : 'id'}
            value={draft.repeatsBy}
            disabled={disabled}
            onChange={({ target }) => change({ repeatsBy: target.value })}
            className="mono text-data"
          />
        )}
      </Part>
      <TitleAndSampleParts form={form} hasSamples={webhook.refused_samples} />
    </SaveForm>
  )
}

/** The titles of events, and whether samples of rejected requests are stored. */
function TitleAndSampleParts({
  form,
  hasSamples,
}: {
  readonly form: SaveFormState<Draft>
  readonly hasSamples: boolean
}): ReactElement {
  const { draft, disabled, change } = fieldsOf(form)
  return (
    <>
      <Part
        title="Titles"
        text="The event title in the console. Postroad reads the title from where the sender puts the event type."
      >
        <Choice
          label="The title of an event is"
          disabled={disabled}
          of={[
            { id: 'known', label: 'Detect automatically' },
            { id: 'header', label: 'In a header' },
            { id: 'path', label: 'In the event' },
          ]}
          at={draft.title}
          go={(title) => change({ title, titleBy: '' })}
        />
        {draft.title === 'known' ? (
          <p className="text-data text-ink-3">
            Postroad looks in headers such as X-GitHub-Event and X-Shopify-Topic, then in fields such as type and event.
          </p>
        ) : (
          <Field
            label={draft.title === 'header' ? 'Title header' : 'Title path'}
            required
            placeholder={draft.title === 'header' ? 'X-GitHub-Event' : 'event.type'}
            value={draft.titleBy}
            disabled={disabled}
            onChange={({ target }) => change({ titleBy: target.value })}
            className="mono text-data"
          />
        )}
      </Part>
      <Part
        title="Rejected requests"
        text="One redacted sample per cause shows what the sender did wrong. Postroad deletes the sample after 7 days."
      >
        <Check
          label="Store samples of rejected requests"
          checked={draft.samples}
          disabled={disabled}
          onChange={({ target }) => change({ samples: target.checked })}
        />
        {!draft.samples && hasSamples && (
          <p className="mt-1 text-data text-ink-3">Postroad deletes the stored samples when you save.</p>
        )}
      </Part>
    </>
  )
}
