import { encodeId, type DestinationAuth, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { authHeaders, heldAuth, type HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import { KINDS } from '../../../domain/delivery/destination-kind.ts'
import { deliveryHeaders, envelope, templateScope } from '../../../domain/delivery/delivery-request.ts'
import { refuse } from '../../../domain/refusal.ts'
import { renderTemplate } from '../../../tasks/render-template.ts'
import {
  changedHeaders,
  checkHeaders,
  checkKind,
  checkTemplate,
  checkUrl,
  destinationSettings,
} from '../destinations/index.ts'
import { getRecord } from '../../capture/records/index.ts'
import type { Room } from '../../verbs.ts'

const DOTS = '••••••••'
const SIGNATURES = ['Service-Signature', 'webhook-signature']
/** A placeholder: the dots replace every signature, so none can be verified. */
const NO_SECRET = 'whsec_'

/** The request that an attempt would send, built by the same functions. Dots replace every value made with a secret. */
const make: Room<'destinationPreviews'>['make'] = async (ctx, input) => {
  const { url, config, auth, headers: own, signing, template } = await settingsOf(ctx, input)
  const record = await getRecord(ctx, input.record_id)
  const event = {
    id: encodeId('record', record.id),
    dataset: record.dataset,
    received_at: record.received_at,
    data: record.data,
  }
  const rendered =
    template === undefined
      ? { ok: true as const, body: envelope(event) }
      : await renderTemplate(ctx, {
          workspaceId: ctx.workspaceId,
          template,
          scope: templateScope(event, auth?.kind === 'payload' ? DOTS : undefined),
        })
  if (!rendered.ok) return { request: null, error: rendered.error }
  const { body } = rendered
  const headers = deliveryHeaders({
    own: { ...asDots(own), ...withDots(auth) },
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
  for (const name of SIGNATURES) if (headers[name] !== undefined) headers[name] = DOTS
  const { method, hasHeaders } = KINDS[config.kind]
  return { request: { method, url, headers: hasHeaders ? headers : {}, body }, error: null }
}

type Input = RouteInput<Routes['destinationPreviews']['make']>
const NEW = {
  url: undefined,
  config: { kind: 'http' },
  auth: null,
  headers: {},
  signing: { header: 'both' },
  payload_template: null,
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
  return { url, config, auth, headers, signing, template }
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
