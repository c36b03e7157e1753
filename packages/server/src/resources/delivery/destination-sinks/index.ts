import { encodeId, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx, Deps } from '../../../context.ts'
import { secretsToSign } from '../../../domain/delivery/signing-secrets.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { verifyDelivery } from '../../../domain/signature/index.ts'
import { createDestination, publicKeysOf } from '../destinations/index.ts'
import type { Room } from '../../verbs.ts'
import { findSinkSecrets } from './queries.ts'

/** The path of this server's sinks. */
export const SINK_PATH = '/v1/sink'

const SECOND_MS = 1_000
/** An attempt stores 16 KiB of a response, and the body is only a part of it. */
const SHOWN_CHARS_MAX = 8_192
/** The headers that the response may show: no custom header and no credential. */
const SHOWN_HEADERS = [
  'content-type',
  'user-agent',
  'service-event-id',
  'service-delivery-id',
  'service-dataset',
  'service-attempt',
  'service-hops',
  'webhook-id',
  'webhook-timestamp',
] as const

/** A destination that this server receives itself. */
const create: Room<'destinationSinks'>['create'] = (ctx, { name, datasets }) => {
  const id = ctx.uuid()
  return createDestination(ctx, { id, input: { ...PLAIN, name, url: sinkUrl(ctx, id), datasets } })
}

/** The URL of a destination with this id that is a sink. */
export function sinkUrl(ctx: Pick<Ctx, 'baseUrl' | 'workspaceId'>, id: string): string {
  return ctx.baseUrl() + sinkPath(ctx, id)
}

/** Whether a URL is the sink of this destination, also after a change of PUBLIC_URL. */
export function isSinkOf(ctx: Pick<Ctx, 'workspaceId'>, { id, url }: { id: string; url: string }): boolean {
  return url.endsWith(sinkPath(ctx, id))
}

const sinkPath = ({ workspaceId }: Pick<Ctx, 'workspaceId'>, id: string): string =>
  `${SINK_PATH}/${encodeId('workspace', workspaceId)}/${encodeId('destination', id)}`

/** The defaults of a destination that sets only its URL. */
const PLAIN: Omit<RouteInput<Routes['destinations']['create']>, 'name' | 'url' | 'datasets'> = {
  config: { kind: 'http' },
  enabled: true,
  conditions: [],
  headers: {},
  retry: { schedule_seconds: null },
  timeout_ms: LIMITS.deliveryTimeoutMsDefault,
  max_in_flight: LIMITS.maxInFlightDefault,
  rate_limit: null,
  ordering: 'none',
  signing: { header: 'both' },
  auth: { kind: 'none' },
  tls: null,
  proxy: null,
  payload_template: null,
  transform_id: null,
  body: 'envelope',
  forward_headers: [],
}

type Came = {
  readonly workspaceId: string
  readonly destinationId: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

/** The response of a sink: the delivery that it received, cut to a size that an attempt stores whole. */
export type SinkAnswer = {
  readonly received: true
  readonly verified: true
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly truncated: boolean
}

/** Accepts only signed deliveries of the destination that owns this sink. */
export async function receive(
  { database, cipher, clock }: Pick<Deps, 'database' | 'cipher' | 'clock'>,
  { workspaceId, destinationId: id, headers, body }: Came,
): Promise<SinkAnswer> {
  const row = await findSinkSecrets(database.forWorkspace(workspaceId), { workspaceId, id })
  if (row === undefined)
    throw refuse('not_found', 'No destination of this workspace has this sink. It may have been deleted.')
  const current = cipher.open(row.secret, secretPlace('destinations.secret', id)).reveal()
  const previous =
    row.previous_secret === null
      ? null
      : {
          value: cipher.open(row.previous_secret, secretPlace('destinations.previous_secret', id)).reveal(),
          until: row.previous_secret_expires_at?.getTime() ?? 0,
        }
  const failure = verifyDelivery({
    secrets: [
      ...secretsToSign({ current, previous }, clock.now()),
      ...publicKeysOf({ cipher, clock }, { id, ...row }).map(({ key }) => key),
    ],
    headers,
    body,
    nowSeconds: Math.floor(clock.wall() / SECOND_MS),
  })
  if (failure !== undefined) throw refuse(failure.reason, `This sink accepts only signed deliveries. ${failure.detail}`)
  const text = body.toString()
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    received: true,
    verified: true,
    bytes: body.length,
    headers: Object.fromEntries(shown),
    body: text.slice(0, SHOWN_CHARS_MAX),
    truncated: text.length > SHOWN_CHARS_MAX,
  }
}

export const destinationSinks: Room<'destinationSinks'> = { create }
