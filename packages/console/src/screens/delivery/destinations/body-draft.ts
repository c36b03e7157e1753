import type { DestinationPreset } from '@postroad/contract'
import type { Destination } from '../../../data/lists.ts'
import { listIn } from '../../../parts/text-list.ts'
import { templateDraftOf, templateOf, type TemplateDraft } from './template-draft.ts'

/** The body of deliveries in a form. A template takes the place of the envelope. */
export type BodyDraft = {
  readonly form: Destination['body']
  readonly template: TemplateDraft
  /** Names of headers with commas between them. */
  readonly forwarded: string
  /** The id of a transform; empty: none. */
  readonly transform: string
}

type Held = Pick<Destination, 'body' | 'payload_template' | 'forward_headers' | 'transform_id'>

export const bodyDraftOf = (of: Held): BodyDraft => ({
  form: of.body,
  template: templateDraftOf(of),
  forwarded: of.forward_headers.join(', '),
  transform: of.transform_id ?? '',
})

/** The start of a new destination. */
export const bodyDraftOfPreset = ({ settings: { payload_template } }: Pick<DestinationPreset, 'settings'>): BodyDraft =>
  bodyDraftOf({ body: 'envelope', payload_template, forward_headers: [], transform_id: null })

/** The members of a request with this body, or its fault. */
export function bodyMembersOf({ form, template, forwarded, transform }: BodyDraft) {
  const read = templateOf(template)
  if ('problem' in read) return read
  const forward_headers = form === 'as_received' ? [] : listIn(forwarded)
  // A transform makes its request of the envelope or the payload.
  const transform_id = transform === '' || read.template !== null || form === 'as_received' ? null : transform
  return { body: { body: form, payload_template: read.template, forward_headers, transform_id } }
}
