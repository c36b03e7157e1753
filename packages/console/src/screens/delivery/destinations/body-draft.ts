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
}

export const bodyDraftOf = (of: Pick<Destination, 'body' | 'payload_template' | 'forward_headers'>): BodyDraft => ({
  form: of.body,
  template: templateDraftOf(of),
  forwarded: of.forward_headers.join(', '),
})

/** The start of a new destination. */
export const bodyDraftOfPreset = ({ settings: { payload_template } }: Pick<DestinationPreset, 'settings'>): BodyDraft =>
  bodyDraftOf({ body: 'envelope', payload_template, forward_headers: [] })

/** The members of a request with this body, or its fault. */
export function bodyMembersOf({ form, template, forwarded }: BodyDraft) {
  const read = templateOf(template)
  if ('problem' in read) return read
  const forward_headers = form === 'as_received' ? [] : listIn(forwarded)
  return { body: { body: form, payload_template: read.template, forward_headers } }
}
