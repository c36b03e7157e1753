import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import protobuf from 'protobufjs'

/**
 * A receiver of OTLP/HTTP on a free port. It reads protobuf by the published definition of OTLP, so the tests do not trust the
 * encoder of the server.
 */

const PROTO = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; bytes bytes_value = 7; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Scope { string name = 1; string version = 2; }
message LogRecord { fixed64 time_unix_nano = 1; int32 severity_number = 2; string severity_text = 3; AnyValue body = 5; repeated KeyValue attributes = 6; fixed32 flags = 8; bytes trace_id = 9; bytes span_id = 10; fixed64 observed_time_unix_nano = 11; string event_name = 12; }
message ScopeLogs { Scope scope = 1; repeated LogRecord log_records = 2; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message Logs { repeated ResourceLogs resource_logs = 1; }
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; fixed32 flags = 6; }
message Status { string message = 2; int32 code = 3; }
message Span { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; fixed32 flags = 16; string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
message Partial { int64 rejected = 1; string error_message = 2; }
message Answer { Partial partial_success = 1; }
`
const { root } = protobuf.parse(PROTO)

export type ReceivedLog = {
  readonly event: string
  readonly severity: number
  readonly body: string
  readonly traceId: string
  readonly spanId: string
  readonly at: number
  readonly attributes: Readonly<Record<string, unknown>>
}
export type ReceivedSpan = {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly start: number
  readonly end: number
  readonly status: { readonly code: number; readonly message: string }
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes: Readonly<Record<string, unknown>>
}
export type Export = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: number
  readonly resource: Readonly<Record<string, unknown>>
  readonly logs: readonly ReceivedLog[]
  readonly spans: readonly ReceivedSpan[]
}
export type Answering = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly rejected?: { readonly count: number; readonly text: string }
}

export type OtlpReceiver = {
  readonly url: string
  /** Every request, accepted or not. */
  readonly requests: readonly Export[]
  /** The items of the requests that got 2xx. */
  readonly logs: () => readonly ReceivedLog[]
  readonly spans: () => readonly ReceivedSpan[]
  /** The next answers; `never`: it does not answer. */
  answer(next: Answering | 'never' | Answers): void
  clear(): void
  stop(): Promise<void>
}

type Answers = (request: Export, index: number) => Answering | 'never'
const accepting: Answers = () => ({ status: 200 })

// oxlint-disable-next-line typescript/no-explicit-any -- both encodings of OTLP have these members
type Loose = any

export async function anOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: Export[] = []
  const accepted: Export[] = []
  let answering: Answers = accepting
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const read = exportOf(request.url ?? '', request.headers, Buffer.concat(chunks))
      const next = answering(read, requests.length)
      requests.push(read)
      if (next === 'never') return
      if (next.status < 300) accepted.push(read)
      reply(response, { next, headers: request.headers })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    logs: () => accepted.flatMap(({ logs }) => logs),
    spans: () => accepted.flatMap(({ spans }) => spans),
    answer: (next) => {
      answering = typeof next === 'function' ? next : () => next
    },
    clear: () => {
      requests.length = 0
      accepted.length = 0
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function reply(response: ServerResponse, { next, headers }: { next: Answering; headers: IncomingHttpHeaders }): void {
  const type = headers['content-type'] ?? ''
  response.writeHead(next.status, { 'content-type': type, ...next.headers })
  if (next.rejected === undefined) return void response.end()
  const { count, text } = next.rejected
  const partialSuccess = { rejectedLogRecords: String(count), rejectedSpans: String(count), errorMessage: text }
  const binary = root
    .lookupType('Answer')
    .encode({ partialSuccess: { rejected: count, errorMessage: text } })
    .finish()
  response.end(type.includes('json') ? JSON.stringify({ partialSuccess }) : binary)
}

// oxlint-disable-next-line max-params -- the parts of a request
function exportOf(path: string, headers: IncomingHttpHeaders, sent: Buffer): Export {
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
  const isLogs = path.endsWith('/v1/logs')
  const isJson = headers['content-type'] === 'application/json'
  const message: Loose = isJson ? JSON.parse(bytes.toString()) : binaryOf(isLogs ? 'Logs' : 'Traces', bytes)
  const hex = (value: Loose): string => (isJson ? (value ?? '') : Buffer.from(value ?? '', 'base64').toString('hex'))
  const groups: readonly Loose[] = (isLogs ? message.resourceLogs : message.resourceSpans) ?? []
  return {
    path,
    headers,
    bytes: sent.length,
    resource: attributesOf(groups[0]?.resource?.attributes),
    logs: groups
      .flatMap((group) => group.scopeLogs ?? [])
      .flatMap((scope) => scope.logRecords ?? [])
      .map((log: Loose) => ({
        event: log.eventName ?? '',
        severity: log.severityNumber,
        body: log.body?.stringValue ?? '',
        traceId: hex(log.traceId),
        spanId: hex(log.spanId),
        at: millis(log.timeUnixNano),
        attributes: attributesOf(log.attributes),
      })),
    spans: groups
      .flatMap((group) => group.scopeSpans ?? [])
      .flatMap((scope) => scope.spans ?? [])
      .map((span: Loose) => ({
        name: span.name,
        kind: span.kind,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentId: hex(span.parentSpanId),
        start: millis(span.startTimeUnixNano),
        end: millis(span.endTimeUnixNano),
        status: { code: span.status?.code ?? 0, message: span.status?.message ?? '' },
        links: (span.links ?? []).map((link: Loose) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
        attributes: attributesOf(span.attributes),
      })),
  }
}

function binaryOf(name: 'Logs' | 'Traces', bytes: Buffer): Loose {
  const type = root.lookupType(name)
  return type.toObject(type.decode(bytes), { longs: String, bytes: String })
}

const millis = (nanoseconds: string | number): number => Number(BigInt(nanoseconds) / 1_000_000n)

const attributesOf = (list: Loose): Readonly<Record<string, unknown>> =>
  Object.fromEntries((list ?? []).map(({ key, value }: Loose) => [key, valueOf(value)]))

function valueOf(value: Loose): unknown {
  if (value?.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(valueOf)
  if (value?.intValue !== undefined) return Number(value.intValue)
  return value?.stringValue ?? value?.boolValue ?? value?.doubleValue
}
