import { encodeId, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { secretsToSign } from '../../../domain/delivery/signing-secrets.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../../domain/secret-place.ts'
import { verifyDelivery } from '../../../domain/signature/index.ts'
import { createDestination } from '../destinations/index.ts'
import type { Room } from '../../verbs.ts'
import { findSinkSecrets } from './queries.ts'

/** Where the sinks of this server are, on its own address. */
export const SINK_PATH = '/v1/sink'

const SECOND_MS = 1_000
/** An attempt keeps 16 KiB of an answer, and the body is not all of it. */
const SHOWN_CHARS_MAX = 8_192
/** What an answer may give back: never the value of a custom header, nor what proves who calls. */
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
  const url = `${ctx.baseUrl()}${SINK_PATH}/${encodeId('workspace', ctx.workspaceId)}/${encodeId('destination', id)}`
  return createDestination(ctx, { id, input: { ...PLAIN, name, url, datasets } })
}

/** As a destination that names nothing but its URL. */
const PLAIN: Omit<RouteInput<Routes['destinations']['create']>, 'name' | 'url' | 'datasets'> = {
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
}

type Came = {
  readonly workspaceId: string
  readonly destinationId: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** What a sink answers with: what came, cut where an attempt would not keep it. */
export type SinkAnswer = {
  readonly received: true
  readonly verified: true
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly truncated: boolean
}

/** Takes a delivery of the destination whose sink it is, and nothing else: the signature proves whose it is. */
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
  const bytes = Buffer.from(body)
  const failure = verifyDelivery({
    secrets: secretsToSign({ current, previous }, clock.now()),
    headers,
    body: bytes,
    nowSeconds: Math.floor(clock.wall() / SECOND_MS),
  })
  if (failure !== undefined) throw refuse(failure.reason, `This sink takes only signed deliveries. ${failure.detail}`)
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    received: true,
    verified: true,
    bytes: bytes.length,
    headers: Object.fromEntries(shown),
    body: body.slice(0, SHOWN_CHARS_MAX),
    truncated: body.length > SHOWN_CHARS_MAX,
  }
}

export const destinationSinks: Room<'destinationSinks'> = { create }
