import type { Deps } from '../../context.ts'
import { storedPath } from '../../domain/capture/request-view.ts'
import { storedQuery } from '../../domain/capture/request-query.ts'
import type { EventRows } from '../../resources/capture/submissions/insert/queries.ts'
import { credentialIn, rootOf, type Routed } from '../types.ts'
import { storedHeaders, tokenHeader } from '../../domain/capture/stored-headers.ts'

/** An event as rows. A record without its own data is the body byte for byte. */
export function rowsOf(deps: Pick<Deps, 'uuid'>, event: Routed): EventRows {
  const { captured, receiver, body, text } = event.verified
  const plan = receiver.plan
  // A record without its own data is the body byte for byte, and then `text` is the body too.
  const bodyText = event.records.some((record) => record.data === null) ? text : textOf(body)
  const credential = credentialIn(captured.address)
  const unknown = new Set(event.records.map((record) => record.dataset).filter((name) => !plan.datasets.has(name)))
  return {
    workspaceId: plan.workspaceId,
    projectId: plan.projectId,
    submission: {
      id: event.submissionId,
      webhookId: receiver.webhook?.id ?? null,
      ingestKeyId: receiver.ingestKeyId ?? null,
      receivedAt: captured.receivedAt,
      hops: event.verified.hops,
      rootId: rootOf(event),
      chain: event.verified.chain,
      sourceIp: captured.sourceIp ?? null,
      contentType: captured.headers['content-type'] ?? null,
      headers: storedHeaders(captured.headers, {
        credential,
        token: tokenHeader(receiver.webhook),
      }),
      query: storedQuery(captured.target, credential),
      path: captured.address.kind === 'origin' ? null : storedPath(captured.target, credential),
      body: bodyText,
      bodyHex: bodyText === null ? body.toString('hex') : null,
      bodySize: body.length,
      decision: event.decision,
      origin: receiver.origin ?? null,
    },
    records: event.records,
    deliveries: event.deliveries,
    starts: event.starts,
    runs: event.runs,
    newDatasets: [...unknown].map((name) => ({ id: deps.uuid(), name })),
  }
}

/** The size of a row without its texts. */
const ROW_BYTES = 200

/** The approximate size of an event in the statement that stores it. Mappings can make megabytes of records from two bytes. */
export function bytesOf({ submission, records, deliveries, starts, runs }: EventRows): number {
  const { bodySize, headers, query, decision } = submission
  const rows = records.length + deliveries.length + starts.length + runs.length
  const texts = records.reduce(
    (sum, { data }) => sum + (data?.length ?? 0),
    headers.length + (query?.length ?? 0) + decision.length,
  )
  return bodySize + texts + ROW_BYTES * rows
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The body as text if it is UTF-8 that PostgreSQL can store as text (no NUL). */
function textOf(body: Buffer): string | null {
  if (body.includes(0)) return null
  try {
    return decoder.decode(body)
  } catch {
    return null
  }
}
