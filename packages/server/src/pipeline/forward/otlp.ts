import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type * as OtlpModule from '@opentelemetry/otlp-transformer'
import type { ForwardedSignal } from '@postroad/contract'
import type { Attributes, LogItem, SpanItem } from '../../domain/serving/forwarding/items.ts'
import type { Item } from './batch.ts'

/**
 * Items as OTLP, by the serializers of @opentelemetry/otlp-transformer, which is loaded when the first batch is sent.
 * They accept plain objects with the members of the records of the OpenTelemetry SDK.
 */

type Otlp = typeof OtlpModule
type LogRecords = Parameters<Otlp['JsonLogsSerializer']['serializeRequest']>[0]
type Spans = Parameters<Otlp['JsonTraceSerializer']['serializeRequest']>[0]

let loaded: Promise<Otlp> | undefined
const load = (): Promise<Otlp> => (loaded ??= import('@opentelemetry/otlp-transformer'))

export type Encoding = { readonly encoding: 'json' | 'protobuf'; readonly gzip: boolean }
export type Encoded = { readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> }

const MEDIA_TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const
const compress = promisify(gzip)

type Asked = Encoding & {
  readonly signal: ForwardedSignal
  readonly resource: Attributes
  readonly items: readonly Item[]
  readonly observedAt: number
}

/** The body of one export request with its headers. */
export async function encode(asked: Asked): Promise<Encoded> {
  const plain = serialized(await load(), asked)
  if (plain === undefined) throw new Error('The serializer returned nothing.')
  const type = { 'content-type': MEDIA_TYPES[asked.encoding] }
  return asked.gzip
    ? { body: await compress(plain), headers: { ...type, 'content-encoding': 'gzip' } }
    : { body: plain, headers: type }
}

function serialized(otlp: Otlp, { signal, encoding, resource, items, observedAt }: Asked): Uint8Array | undefined {
  const common = { resource: { attributes: resource }, instrumentationScope: { name: 'postroad.forwarder' } }
  if (signal === 'logs') {
    const records = items
      .filter((item) => 'severity' in item)
      .map((item) => ({ ...logRecord(item, observedAt), ...common }))
    const serializer = encoding === 'json' ? otlp.JsonLogsSerializer : otlp.ProtobufLogsSerializer
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the serializer reads only these members
    return serializer.serializeRequest(records as unknown as LogRecords)
  }
  const spans = items.filter((item) => 'kind' in item).map((item) => ({ ...spanRecord(item), ...common }))
  const serializer = encoding === 'json' ? otlp.JsonTraceSerializer : otlp.ProtobufTraceSerializer
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the serializer reads only these members
  return serializer.serializeRequest(spans as unknown as Spans)
}

/** The numbers of the severities of OpenTelemetry. */
const SEVERITIES = { info: 9, warn: 13, error: 17 } as const
/** The numbers of the span kinds of OpenTelemetry. */
const KINDS = { internal: 0, server: 1, client: 2, producer: 3 } as const
const STATUS = { unset: 0, error: 2 } as const
const SAMPLED = 1

/** Seconds and nanoseconds. */
const timeOf = (ms: number): readonly [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)]

function logRecord({ at, severity, event, body, attributes, traceId, spanId }: LogItem, observedAt: number) {
  return {
    hrTime: timeOf(at),
    hrTimeObserved: timeOf(observedAt),
    severityNumber: SEVERITIES[severity],
    severityText: severity.toUpperCase(),
    body,
    eventName: event,
    attributes,
    droppedAttributesCount: 0,
    spanContext: traceId === undefined || spanId === undefined ? undefined : { traceId, spanId, traceFlags: SAMPLED },
  }
}

function spanRecord(span: SpanItem) {
  const context = { traceId: span.traceId, spanId: span.spanId, traceFlags: SAMPLED }
  return {
    spanContext: () => context,
    parentSpanContext: span.parentId === undefined ? undefined : { ...context, spanId: span.parentId },
    name: span.name,
    kind: KINDS[span.kind],
    startTime: timeOf(span.start),
    endTime: timeOf(span.end),
    attributes: span.attributes,
    status: span.error === undefined ? { code: STATUS.unset } : { code: STATUS.error, message: span.error },
    events: [],
    links:
      span.link === undefined
        ? []
        : [
            {
              context: {
                traceId: span.link.traceId,
                spanId: span.link.spanId,
                traceFlags: span.link.flags,
                isRemote: true,
              },
              attributes: {},
            },
          ],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

/** The number of items that an accepted request did not take, with the reason. `body`: one character for each byte. */
export async function partialSuccess(
  { signal, contentType }: { signal: ForwardedSignal; contentType: string | undefined },
  body: string,
): Promise<{ readonly rejected: number; readonly text: string | null }> {
  const nothing = { rejected: 0, text: null }
  if (body === '') return nothing
  const otlp = await load()
  const isJson = contentType?.includes('json') === true
  const serializer =
    signal === 'logs'
      ? isJson
        ? otlp.JsonLogsSerializer
        : otlp.ProtobufLogsSerializer
      : isJson
        ? otlp.JsonTraceSerializer
        : otlp.ProtobufTraceSerializer
  try {
    const { partialSuccess: partial } = serializer.deserializeResponse(Buffer.from(body, 'latin1'))
    if (partial === undefined || partial === null) return nothing
    const count: unknown =
      'rejectedLogRecords' in partial ? partial.rejectedLogRecords : Reflect.get(partial, 'rejectedSpans')
    return { rejected: Math.max(0, Number(count ?? 0)) || 0, text: textOf(partial.errorMessage) }
  } catch {
    // A receiver that answers 2xx with anything else has accepted everything.
    return nothing
  }
}

const TEXT_CHARS_MAX = 500
const textOf = (text: string | undefined): string | null =>
  text === undefined || text === '' ? null : text.replaceAll('\0', '').slice(0, TEXT_CHARS_MAX)
