import { DELIVERY_HEADERS, encodeId } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { readRetryAfter } from '../../domain/retry-policy.ts'
import { secretPlace } from '../../domain/secret-place.ts'
import { signDelivery } from '../../domain/signature/index.ts'
import type { OutboundResult } from '../../platform/outbound-http.ts'
import { findForSending, type SendingRow, type SigningHeader } from '../../resources/destinations/queries.ts'
import type { Cargo, Evidence } from './cargo.ts'
import type { Begun, HttpResult } from './ports.ts'

type Target = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly maxInFlight: number
  readonly header: SigningHeader
  readonly secret: string
  readonly previousSecret: { readonly value: string; readonly until: number } | undefined
  readonly readAt: number
}

export type Sender = {
  /** One attempt over HTTP; never rejects. */
  send(attempt: Begun, timeoutMs: number): Promise<HttpResult>
  /** Reads these destinations anew at their next attempt. */
  forget(destinationIds: readonly string[]): void
}

/** A change on another node is seen within this time. */
const TARGET_KEPT_MS = 1_000

/** Builds the signed request of an attempt from what its begin committed, and sends it through the guarded door. */
export function createSender(deps: Deps, userAgent: string): Sender {
  const targets = new Map<string, Promise<Target | undefined> | Target>()

  const targetOf = (cargo: Cargo): Promise<Target | undefined> | Target => {
    const known = targets.get(cargo.destination_id)
    if (known instanceof Promise) return known
    if (known !== undefined && deps.clock.wall() - known.readAt < TARGET_KEPT_MS) return known
    const loading = loadTarget(deps, cargo).then((target) => {
      if (targets.get(cargo.destination_id) !== loading) return target
      if (target === undefined) targets.delete(cargo.destination_id)
      else targets.set(cargo.destination_id, target)
      return target
    })
    targets.set(cargo.destination_id, loading)
    return loading
  }

  return {
    send: async (attempt, timeoutMs) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store put it there; the machine hands it back unread
      const cargo = attempt.cargo as Cargo
      try {
        const found = targetOf(cargo)
        const target = found instanceof Promise ? await found : found
        if (target === undefined) return failure('invalid_url', 'The destination was deleted.')
        const id = encodeId('record', cargo.record_id)
        const body = envelope(id, cargo)
        const result = await deps.outbound.request({
          url: target.url,
          headers: headersOf({ id, cargo, attempt, target, body, userAgent, now: deps.clock.wall() }),
          body,
          timeoutMs,
          maxInFlight: target.maxInFlight,
          lane: cargo.destination_id,
        })
        return httpResult(result, deps.clock.wall())
      } catch (error) {
        targets.delete(cargo.destination_id)
        deps.log.warn('delivery.not_sent', { destination_id: encodeId('destination', cargo.destination_id), cause: error })
        return failure('connection_reset', 'The sender could not prepare the request; see its log.')
      }
    },
    forget: (ids) => {
      for (const id of ids) targets.delete(id)
    },
  }
}

async function loadTarget(deps: Deps, cargo: Cargo): Promise<Target | undefined> {
  const row = await findForSending(deps.database, { workspaceId: cargo.workspace_id, id: cargo.destination_id })
  return row === undefined ? undefined : openTarget(deps, row)
}

function openTarget(deps: Deps, row: SendingRow): Target {
  const open = (sealed: Buffer, column: 'secret' | 'previous_secret' | 'headers'): string =>
    deps.cipher.open(sealed, secretPlace(`destinations.${column}`, row.id)).reveal()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the destinations room, and opens only as it was sealed
  const headers = row.headers === null ? {} : (JSON.parse(open(row.headers, 'headers')) as Record<string, string>)
  const until = row.previous_secret_expires_at?.getTime() ?? 0
  return {
    url: row.url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    maxInFlight: row.max_in_flight,
    header: row.signing.header,
    secret: open(row.secret, 'secret'),
    previousSecret: row.previous_secret === null ? undefined : { value: open(row.previous_secret, 'previous_secret'), until },
    readAt: deps.clock.wall(),
  }
}

/** Decisions §6: exactly these members in this order, `data` letter by letter, the same bytes on every attempt. */
function envelope(id: string, cargo: Cargo): string {
  return `{"id":"${id}","dataset":"${cargo.dataset}","received_at":"${cargo.received_at.toISOString()}","data":${cargo.data}}`
}

type ToHead = { id: string; cargo: Cargo; attempt: Begun; target: Target; body: string; userAgent: string; now: number }

const NAMES = {
  eventId: DELIVERY_HEADERS.eventId.toLowerCase(),
  deliveryId: DELIVERY_HEADERS.deliveryId.toLowerCase(),
  attempt: DELIVERY_HEADERS.attempt.toLowerCase(),
  dataset: DELIVERY_HEADERS.dataset.toLowerCase(),
  hops: DELIVERY_HEADERS.hops.toLowerCase(),
} as const

function headersOf({ id, cargo, attempt, target, body, userAgent, now }: ToHead): Record<string, string> {
  const { previousSecret } = target
  const secrets = previousSecret !== undefined && previousSecret.until > now ? [target.secret, previousSecret.value] : [target.secret]
  return {
    ...target.headers,
    'content-type': 'application/json',
    'user-agent': userAgent,
    [NAMES.eventId]: id,
    [NAMES.deliveryId]: encodeId('attempt', attempt.attempt_id),
    [NAMES.attempt]: String(attempt.attempt_number),
    [NAMES.dataset]: cargo.dataset,
    [NAMES.hops]: String(cargo.hops + 1),
    ...signDelivery({ secrets, id, body, timestampSeconds: Math.floor(now / 1_000), header: target.header }),
  }
}

function failure(code: Extract<HttpResult, { type: 'failure' }>['error_code'], detail: string): HttpResult {
  const evidence: Evidence = { durationMs: 0, headers: null, body: null, truncated: null, detail }
  return { type: 'failure', error_code: code, evidence }
}

function httpResult(result: OutboundResult, now: number): HttpResult {
  const durationMs = Math.round(result.durationMs)
  if (result.kind === 'failure') {
    const evidence: Evidence = { durationMs, headers: null, body: null, truncated: null, detail: result.detail }
    return { type: 'failure', error_code: result.code, evidence }
  }
  const { status, headers, body, truncated } = result
  const retryAfter = headers['retry-after']
  const evidence: Evidence = { durationMs, headers: JSON.stringify(headers), body, truncated, detail: null }
  return { type: 'response', status, retry_after_seconds: retryAfter === undefined ? null : readRetryAfter(retryAfter, now), evidence }
}
