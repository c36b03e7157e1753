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
import { batchOf, KINDS } from '../../../domain/delivery/destination-kind.ts'
import {
  deliveryBody,
  neededOf,
  shownBody,
  type BodySettings,
  type DeliveryBody,
  type ReceivedRequest,
} from '../../../domain/delivery/delivery-body.ts'
import {
  batchBody,
  batchHeaders,
  batchId,
  deliveryHeaders,
  templateScope,
  type Event,
} from '../../../domain/delivery/delivery-request.ts'
import { contentTypeOf } from '../../../domain/delivery/program-request.ts'
import type { Signing } from '../../../domain/delivery/signing-keys.ts'
import { refuse } from '../../../domain/refusal.ts'
import { createTurnsOfEach } from '../../../platform/turns.ts'
import { renderTemplate } from '../../../tasks/render-template.ts'
import {
  changedHeaders,
  checkBatch,
  checkBody,
  checkHeaders,
  checkKind,
  checkSigning,
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
  const settings = await settingsOf(ctx, input)
  const { url, config, auth, headers: own, signing, template, formed, transform_id: id } = settings
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
  const made = await madeOf(ctx, { ...settings, event, received })
  if ('error' in made) return { request: null, error: made.error }
  const isBatch = batchOf(config) !== undefined
  const body = isBatch ? batchBody([shownBody(made.body).text ?? '']) : made.body
  const common = {
    own: { ...asDots(own), ...withDots(auth) },
    hops: record.hops + 1,
    chain: DOTS,
    body: made.body,
    secrets: [NO_SECRET],
    keys: [],
    // The dots are the same for every scheme.
    signing: { header: signing.header, scheme: 'hmac' },
    userAgent: ctx.deliveryUserAgent,
    now: ctx.clock.wall(),
  } as const
  const headers = isBatch
    ? batchHeaders({ ...common, id: batchId([event.id]), size: 1 })
    : deliveryHeaders({
        ...common,
        forwarded: made.forwarded,
        isAsReceived: made.form === 'as_received',
        contentType: made.contentType,
        event,
        attempt: { id: DOTS, number: 1 },
        traceparent: DOTS,
      })
  return { request: shownRequest({ config, url, headers, made: { ...made, body } }), error: null }
}

type ToMake = Awaited<ReturnType<typeof settingsOf>> & {
  readonly event: Event
  readonly received: ReceivedRequest | undefined
}

/** The parts of the request that the event determines, made by the template or the transform if there is one. */
async function madeOf(
  ctx: Ctx,
  { auth, template, formed, transform_id: id, event, received }: ToMake,
): Promise<(DeliveryBody & { readonly contentType?: string | undefined }) | { readonly error: string }> {
  const plain = deliveryBody(event, { settings: formed, request: received, baseUrl: ctx.baseUrl() })
  if (id !== null) {
    const form = formed.body === 'data' ? formed.body : 'envelope'
    const request = await requestOfTransform(ctx, { id, event, form, forwarded: plain.forwarded, received })
    if ('error' in request) return request
    const { body, headers: forwarded } = request
    return { ...plain, body, forwarded, form: null, reason: null, contentType: contentTypeOf(request) }
  }
  if (template === undefined) return plain
  const secret = auth?.kind === 'payload' ? DOTS : undefined
  const scope = templateScope(event, { secret, request: received })
  const rendered = await renderTemplate(ctx, { workspaceId: ctx.workspaceId, template, scope })
  return rendered.ok ? { ...plain, body: rendered.body } : { error: rendered.error }
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
  signing: { header: 'both', scheme: 'hmac' },
  payload_template: null,
  body: 'envelope',
  forward_headers: [],
  transform_id: null,
} as const

/** The settings in the request override the saved ones, and those override the defaults of a new destination. */
async function settingsOf(ctx: Ctx, input: Input) {
  const held = input.destination_id === undefined ? NEW : await destinationSettings(ctx, input.destination_id)
  const { url = held.url, config = held.config } = input
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
  const bodied = bodySettingsOf(held, input)
  checkBody({ config, payload_template: template ?? null, ...bodied.formed })
  checkBatch({ config, max_in_flight: Infinity, ...bodied.formed })
  checkTransform({ ...bodied, config, payload_template: template ?? null, body: bodied.formed.body })
  return { url, config, auth, headers, signing: signingAsked(config, { held, input }), template, ...bodied }
}

type Signed = { readonly held: { readonly signing: Signing }; readonly input: Input }

function signingAsked(config: DestinationConfig, { held, input: { signing = held.signing } }: Signed): Signing {
  const asked = { header: signing.header, scheme: signing.scheme ?? held.signing.scheme }
  checkSigning(config, asked)
  return asked
}

type BodyHeld = BodySettings & { readonly transform_id: string | null }

/** The settings of the body in the request, or the saved ones. */
function bodySettingsOf(held: BodyHeld, sent: Input) {
  const transform_id = sent.transform_id === undefined ? held.transform_id : sent.transform_id
  const forward_headers = sent.forward_headers ?? held.forward_headers
  return { formed: { body: sent.body ?? held.body, forward_headers }, transform_id }
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
