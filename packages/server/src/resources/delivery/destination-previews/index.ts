import {
  encodeId,
  type DestinationAuth,
  type DestinationConfig,
  type RouteInput,
  type Routes,
} from '@postroad/contract'
import { withQuery } from '@postroad/contract/sent-again'
import type { Ctx } from '../../../context.ts'
import { authHeaders, heldAuth, type HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import { KINDS } from '../../../domain/delivery/destination-kind.ts'
import { deliveryBody, neededOf, shownBody, type DeliveryBody } from '../../../domain/delivery/delivery-body.ts'
import { deliveryHeaders, templateScope } from '../../../domain/delivery/delivery-request.ts'
import { contentTypeOf } from '../../../domain/delivery/program-request.ts'
import { refuse } from '../../../domain/refusal.ts'
import { createTurnsOfEach } from '../../../platform/turns.ts'
import { renderTemplate } from '../../../tasks/render-template.ts'
import {
  changedHeaders,
  checkBody,
  checkHeaders,
  checkKind,
  checkTemplate,
  checkTransform,
  checkUrl,
  destinationSettings,
} from '../destinations/index.ts'
import { requestOfTransform } from '../transforms/index.ts'
import { findReceived } from '../../capture/payloads/index.ts'
import { getRecord } from '../../capture/records/index.ts'
import type { Room } from '../../verbs.ts'

const DOTS = '••••••••'
const SIGNATURES = ['Service-Signature', 'webhook-signature']
/** A placeholder: the dots replace every signature, so none can be verified. */
const NO_SECRET = 'whsec_'

/** The request that an attempt would send, built by the same functions. Dots replace every value made with a secret. */
const makeNow: Room<'destinationPreviews'>['make'] = async (ctx, input) => {
  const { url, config, auth, headers: own, signing, template, formed, transform_id: id } = await settingsOf(ctx, input)
  const record = await getRecord(ctx, input.record_id)
  const event = {
    id: encodeId('record', record.id),
    dataset: record.dataset,
    received_at: record.received_at,
    data: record.data,
  }
  const received = await findReceived(ctx.db, {
    ...ctx,
    recordId: record.id,
    needs: id === null ? neededOf(formed, template) : 'request',
  })
  const plain = deliveryBody(event, { settings: formed, request: received })
  const form = formed.body === 'data' ? formed.body : 'envelope'
  const asked = { event, form, forwarded: plain.forwarded, received } as const
  const transformed = id === null ? undefined : await requestOfTransform(ctx, { id, ...asked })
  if (transformed !== undefined && 'error' in transformed) return { request: null, error: transformed.error }
  const made =
    transformed === undefined
      ? plain
      : { ...plain, body: transformed.body, forwarded: transformed.headers, form: null, reason: null }
  const secret = auth?.kind === 'payload' ? DOTS : undefined
  const scope = templateScope(event, { secret, request: received })
  const rendered = template && (await renderTemplate(ctx, { workspaceId: ctx.workspaceId, template, scope }))
  if (rendered?.ok === false) return { request: null, error: rendered.error }
  const body = rendered?.body ?? made.body
  const headers = deliveryHeaders({
    own: { ...asDots(own), ...withDots(auth) },
    forwarded: made.forwarded,
    isAsReceived: made.form === 'as_received',
    contentType: transformed === undefined ? undefined : contentTypeOf(transformed),
    event,
    attempt: { id: DOTS, number: 1 },
    traceparent: DOTS,
    hops: record.hops + 1,
    chain: DOTS,
    body,
    secrets: [NO_SECRET],
    signing: signing.header,
    userAgent: ctx.deliveryUserAgent,
    now: ctx.clock.wall(),
  })
  return { request: shownRequest({ config, url, headers, made: { ...made, body } }), error: null }
}

/** A preview reads a whole record, so a workspace makes one at a time, and the loop has time for others in between. */
const inTurn = createTurnsOfEach({ atOnce: 1 })

const make: Room<'destinationPreviews'>['make'] = (ctx, input) => inTurn(ctx.workspaceId, () => makeNow(ctx, input))

type Made = {
  readonly config: DestinationConfig
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly made: DeliveryBody
}

/** Dots replace our signatures. Those of the sender are shown. */
function shownRequest({ config, url, headers, made: { body, form, reason, forwarded, query } }: Made) {
  const { method, hasHeaders } = KINDS[config.kind]
  const { text, base64 } = shownBody(body)
  const dotted = SIGNATURES.filter((name) => headers[name] !== undefined && forwarded[name] === undefined)
  return {
    method,
    url: withQuery(url, query),
    headers: hasHeaders ? { ...headers, ...Object.fromEntries(dotted.map((name) => [name, DOTS])) } : {},
    body: text ?? '',
    body_base64: base64,
    body_form: form,
    body_reason: reason,
  }
}

type Input = RouteInput<Routes['destinationPreviews']['make']>
const NEW = {
  url: undefined,
  config: { kind: 'http' },
  auth: null,
  headers: {},
  signing: { header: 'both' },
  payload_template: null,
  body: 'envelope',
  forward_headers: [],
  transform_id: null,
} as const

/** The settings in the request override the saved ones, and those override the defaults of a new destination. */
async function settingsOf(ctx: Ctx, input: Input) {
  const held = input.destination_id === undefined ? NEW : await destinationSettings(ctx, input.destination_id)
  const { url = held.url, config = held.config, signing = held.signing } = input
  if (url === undefined) throw refuse('invalid_request', 'url is needed without destination_id; send one of them.')
  checkUrl(config, url, ctx.validateUrl)
  const headers = input.headers === undefined ? held.headers : changedHeaders(input.headers, held.headers)
  checkHeaders(headers)
  const auth = input.auth === undefined ? held.auth : unsaved(input.auth)
  checkKind({ config, headers, auth, proxy: null })
  const template = checkTemplate(
    input.payload_template === undefined ? held.payload_template : input.payload_template,
    { auth },
  )
  const formed = {
    body: input.body ?? held.body,
    forward_headers: input.forward_headers ?? held.forward_headers,
  }
  checkBody({ config, payload_template: template ?? null, ...formed })
  const transform_id = input.transform_id === undefined ? held.transform_id : input.transform_id
  checkTransform({ transform_id, config, payload_template: template ?? null, body: formed.body })
  return { url, config, auth, headers, signing, template, formed, transform_id }
}

/** A preview needs no secret: it shows dots instead of each one. */
function unsaved(sent: DestinationAuth): HeldAuth | null {
  const auth = heldAuth(sent, { anySecret: DOTS })
  return auth === null || 'missing' in auth ? null : auth
}

function withDots(auth: HeldAuth | null): Record<string, string> {
  if (auth?.kind === 'oauth2_client_credentials') return { authorization: `Bearer ${DOTS}` }
  return Object.fromEntries(
    Object.entries(authHeaders(auth)).map(([name, value]) => [
      name,
      name === 'authorization' ? `${value.split(' ')[0]} ${DOTS}` : DOTS,
    ]),
  )
}

/** Custom headers with their names in lower case; no response shows their values. */
function asDots(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name.toLowerCase(), DOTS]))
}

export const destinationPreviews: Room<'destinationPreviews'> = { make }
