import { LIMITS, type DestinationConfig } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { KINDS } from '../../../domain/delivery/destination-kind.ts'
import { readRetryAfter } from '../../../domain/delivery/retry-policy.ts'
import { storedSend } from '../../../domain/delivery/sent-request.ts'
import type { OutboundResult } from '../../../platform/outbound-http.ts'
import { writeObject, type ObjectRow } from '../../../tasks/write-object.ts'
import type { Evidence } from '../payload.ts'
import type { SendResult } from '../ports.ts'
import { awsHeaders } from './aws-signature.ts'
import { Batches } from './batches.ts'
import { CONTENT_TYPES, objectKey, objectUrl } from './s3-object.ts'
import { failure, NOTHING_SEEN, textOf, type Prepared, type SendPrepared } from './types.ts'

type S3 = Extract<DestinationConfig, { readonly kind: 's3' }>
type Item = { readonly prepared: Prepared; readonly config: S3; readonly deadline: () => number }
type Stored = { readonly url: string; readonly key: string; readonly events: number; readonly result: OutboundResult }

/** The rest of an attempt's time is for its request. */
const LINGER_SHARE = 0.5
const REQUEST_MS_MIN = 500

/**
 * Writes objects with the events of many attempts each (ADR 211). An attempt waits for the others of its batch, and ends as the request
 * that wrote their object.
 */
export function createS3Sender(deps: Deps): { readonly send: SendPrepared; readonly endWaits: () => void } {
  const batches = new Batches<Item, Stored>(deps.clock, (items) => store(deps, items))
  const send: SendPrepared = async (prepared) => {
    const { target, event, lane, request, timeLeft } = prepared
    const { config } = target
    if (config.kind !== 's3') throw new Error(`${config.kind} is not s3.`)
    const startedAt = deps.clock.now()
    const timeoutMs = Math.min(request.timeoutMs, timeLeft())
    const stored = await batches.add(
      { prepared, config, deadline: () => startedAt + timeoutMs - deps.clock.now() },
      {
        key: JSON.stringify([lane, event.dataset, target.version]),
        bytes: Buffer.byteLength(request.body) + 1,
        itemsMax: target.maxInFlight,
        bytesMax: LIMITS.batchBytesMax,
        lingerMs: Math.min(config.linger_ms, timeoutMs * LINGER_SHARE),
      },
    )
    return resultOf(stored, { prepared, durationMs: deps.clock.now() - startedAt, now: deps.clock.wall() })
  }
  return { send, endWaits: () => batches.endWaits() }
}

/** Writes the object of a batch. It has the time of the attempt that must end first. */
async function store(deps: Deps, items: readonly Item[]): Promise<Stored> {
  const [first] = items
  if (first === undefined) throw new Error('A batch has at least one event.')
  const { config, prepared } = first
  const { target, lane } = prepared
  const rows = items.map(({ prepared: { event, request } }): ObjectRow => ({ ...event, body: textOf(request) }))
  const key = objectKey(config, rows)
  const url = objectUrl(config, { endpoint: target.url, key })
  const { body, sha256 } = await deps.heavy.run(writeObject, {
    workspaceId: prepared.workspaceId,
    isPatient: true,
    input: { format: config.format, rows },
    work: rows.reduce((sum, row) => sum + row.body.length, 0),
  })
  const headers = await awsHeaders({
    auth: target.auth,
    method: 'PUT',
    url,
    // The digest of the content is signed, so S3 refuses a changed one.
    headers: { 'content-type': CONTENT_TYPES[config.format], 'x-amz-content-sha256': sha256 },
    service: 's3',
    region: config.region,
    now: deps.clock.wall(),
  })
  const timeoutMs = Math.max(Math.min(...items.map(({ deadline }) => deadline())), REQUEST_MS_MIN)
  const { transport, maxInFlight } = target
  // A customer of a portal may not reach the addresses that only the operator allows.
  const client = prepared.request.ofCustomer ? deps.customersOutbound : deps.outbound
  const result = await client.request({
    method: 'PUT',
    url,
    headers,
    body,
    timeoutMs,
    lane,
    transport,
    maxInFlight,
  })
  return { url, key, events: rows.length, result }
}

type Of = { readonly prepared: Prepared; readonly durationMs: number; readonly now: number }

function resultOf({ url, key, events, result }: Stored, { prepared, durationMs, now }: Of): SendResult {
  const { request, target } = prepared
  const { bucket } = target.config.kind === 's3' ? target.config : { bucket: '' }
  const sent = JSON.stringify(storedSend({ ...request, url }, KINDS.s3))
  if (result.kind === 'failure') return failure({ code: result.code, detail: result.detail, durationMs, request: sent })
  const { status, headers, body, truncated, note } = result
  if (status === 401 || status === 403)
    return failure({ code: 'auth_failed', detail: deniedText(body), durationMs, request: sent })
  if (status === 410)
    return failure({ code: 'refused', detail: `The store returned 410. ${said(body)}`, durationMs, request: sent })
  const isStored = status >= 200 && status < 300
  const text = `Stored in s3://${bucket}/${key}, with ${events} event${events === 1 ? '' : 's'}`
  const retryAfter = headers['retry-after']
  const evidence: Evidence = {
    ...NOTHING_SEEN,
    durationMs: Math.round(durationMs),
    headers: JSON.stringify(headers),
    body: isStored ? text : body,
    truncated: isStored ? false : truncated,
    detail: note,
    request: sent,
  }
  const retry_after_seconds = retryAfter === undefined ? null : readRetryAfter(retryAfter, now)
  return { type: 'response', status, retry_after_seconds, evidence }
}

const deniedText = (body: string): string =>
  `The store does not accept the credentials. Check auth, config.region and the permission to write objects. ${said(body)}`

/** The code and the message of an error in XML. */
function said(body: string): string {
  const [, code] = /<Code>([^<]{1,100})<\/Code>/.exec(body) ?? []
  const [, message] = /<Message>([^<]{1,300})<\/Message>/.exec(body) ?? []
  return code === undefined ? '' : `It says: ${code}${message === undefined ? '' : `: ${message}`}`
}
