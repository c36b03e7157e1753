import { encodeId, type SentBody } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { envelope, templateScope, thinEnvelope, type Event } from '../../../domain/delivery/delivery-request.ts'
import { compileTemplate, type Rendered } from '../../../domain/delivery/payload-template.ts'
import { DOTS, sha256, type StoredRequest } from '../../../domain/delivery/sent-request.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import { deliveryBody, shownBody } from '../../../domain/delivery/delivery-body.ts'
import { findReceived } from '../../capture/payloads/index.ts'
import { getRecord } from '../../capture/records/index.ts'
import { renderTemplate } from '../../../tasks/render-template.ts'
import type { Room } from '../../verbs.ts'
import { findAttempt, findDelivery, presentWholeAttempt, type DeliveryRow } from '../deliveries/index.ts'
import { requestOfTransform } from '../transforms/index.ts'
import { destinationSettings } from '../destinations/index.ts'

export const attempts: Room<'attempts'> = {
  get: async (ctx, { id }) => {
    const row = await findAttempt(ctx.db, { ...ctx, id })
    const delivery = row === undefined ? undefined : await findDelivery(ctx.db, { ...ctx, id: row.delivery_id })
    if (row === undefined || delivery === undefined) throw refuse('not_found')
    return {
      attempt: presentWholeAttempt(row, delivery),
      body: row.request === null ? null : await bodyOf(ctx, delivery, row.request),
    }
  },
}

/** Renders the body again. It is the body that was sent if and only if it has the same digest. */
async function bodyOf(ctx: Ctx, delivery: DeliveryRow, { sha256: digest, form }: StoredRequest): Promise<SentBody> {
  const record = await getRecord(ctx, delivery.record_id)
  const event = {
    id: encodeId('record', record.id),
    dataset: record.dataset,
    received_at: record.received_at,
    data: record.data,
  }
  if (form === 'data')
    return { as_sent: sha256(event.data) === digest, text: event.data, base64: null, difference: null }
  if (form === 'thin') {
    const text = thinEnvelope(event, ctx.baseUrl())
    const as_sent = sha256(text) === digest
    return { as_sent, text, base64: null, difference: as_sent ? null : 'template_changed' }
  }
  if (form === 'as_received') return receivedBody(ctx, { recordId: delivery.record_id, digest })
  // The template may have been added, changed or removed since. Without a template, the body is always the envelope.
  const plain = envelope(event)
  if (sha256(plain) === digest) return { as_sent: true, text: plain, base64: null, difference: null }
  const settings = await settingsOf(ctx, delivery.destination_id)
  if (settings === undefined) return { as_sent: false, text: null, base64: null, difference: 'destination_deleted' }
  const rendered = await renderedNow(ctx, { event, settings, recordId: delivery.record_id })
  if (!rendered.body.ok) return { as_sent: false, text: null, base64: null, difference: 'template_failed' }
  const asSent = sha256(rendered.body.body) === digest
  return {
    as_sent: asSent,
    text: rendered.shown.ok ? rendered.shown.body : null,
    base64: null,
    difference: asSent ? null : 'template_changed',
  }
}

/** The body of the submission never changes. */
async function receivedBody(ctx: Ctx, { recordId, digest }: { recordId: string; digest: string }): Promise<SentBody> {
  const received = await findReceived(ctx.db, { ...ctx, recordId, needs: 'request_and_body' })
  if (received === undefined) throw refuse('not_found')
  return { as_sent: sha256(received.body) === digest, ...shownBody(received.body), difference: null }
}

type Settings = Awaited<ReturnType<typeof destinationSettings>>

/** The body as it would be sent now, and the same body with dots instead of the secret. */
async function renderedNow(
  ctx: Ctx,
  {
    event,
    settings: { payload_template, auth, transform_id, body: form, forward_headers },
    recordId,
  }: { readonly event: Event; readonly settings: Settings; readonly recordId: string },
): Promise<{ readonly body: Rendered; readonly shown: Rendered }> {
  if (transform_id !== null) {
    const received = await findReceived(ctx.db, { ...ctx, recordId, needs: 'request' })
    const settings = { body: form, forward_headers }
    const { forwarded } = deliveryBody(event, { settings, request: received, baseUrl: ctx.baseUrl() })
    const asked = { id: transform_id, event, forwarded, received, form: form === 'data' ? form : 'envelope' } as const
    const made = await requestOfTransform(ctx, asked)
    const body =
      'error' in made ? ({ ok: false, error: made.error } as const) : ({ ok: true, body: made.body } as const)
    return { body, shown: body }
  }
  if (payload_template === null) {
    const body = { ok: true, body: envelope(event) } as const
    return { body, shown: body }
  }
  const template = compileTemplate(payload_template)
  if ('error' in template) {
    const body = { ok: false, error: template.error } as const
    return { body, shown: body }
  }
  const { workspaceId } = ctx
  const secret = auth?.kind === 'payload' ? auth.secret : undefined
  const needs = template.usesRequest ? 'request' : 'nothing'
  const request = await findReceived(ctx.db, { ...ctx, recordId, needs })
  const renderedWith = async (own: string | undefined): Promise<Rendered> =>
    renderTemplate(ctx, { workspaceId, template, scope: templateScope(event, { secret: own, request }) })
  const body = await renderedWith(secret)
  return { body, shown: template.usesSecret ? await renderedWith(DOTS) : body }
}

/** undefined: the destination was deleted. */
async function settingsOf(ctx: Ctx, id: string): Promise<Settings | undefined> {
  try {
    return await destinationSettings(ctx, id)
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined
    throw error
  }
}
