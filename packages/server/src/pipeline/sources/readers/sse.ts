import { createParser } from 'eventsource-parser'
import { LIMITS, type SourceSettings } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import { connectionFailure, headerText, openResponse } from './http.ts'
import { ForeignFailure } from '../../../platform/foreign-failure.ts'
import type { StreamResponse } from '../../../platform/outbound/stream.ts'
import { SseBlocks } from './sse-blocks.ts'
import type { StreamBatch } from './types.ts'

export type SseSettings = Extract<SourceSettings, { kind: 'sse' }>
export type SsePosition = { readonly last_event_id: string | null }

export type SseAsked = {
  readonly settings: SseSettings
  readonly secret: SourceSecret
  readonly position: SsePosition
  readonly rowBytesMax: number
  readonly signal: AbortSignal
}

/**
 * Connects to a stream of server-sent events, and yields them as they come. The next piece is read when the caller has stored the
 * previous one, so a stream that is too fast waits at its server. Ends when the server ends it; rejects with `ForeignFailure`.
 */
export async function* readSse(
  deps: Pick<Deps, 'reach' | 'deliveryUserAgent' | 'clock'>,
  { settings, secret, position, rowBytesMax, signal }: SseAsked,
): AsyncGenerator<StreamBatch> {
  const response = await openResponse(deps, {
    url: settings.url,
    headers: {
      accept: 'text/event-stream',
      ...secret.headers,
      ...(position.last_event_id === null ? {} : { 'last-event-id': headerText(position.last_event_id) }),
    },
    silentMsMax: LIMITS.sseSilentSecondsMax * 1_000,
    signal,
  })
  try {
    if (!/^text\/event-stream\b/i.test(response.headers['content-type'] ?? ''))
      throw new ForeignFailure('invalid_body', 'The server did not respond with an event stream. Check the URL.')
    // The caller learns that the connection is good.
    yield { items: [], position, retryMs: undefined }
    yield* eventsOf(response.body, { settings, position, rowBytesMax })
  } catch (error) {
    if (!signal.aborted) throw connectionFailure(error)
  } finally {
    response.close()
  }
}

/** `data` is null for an event that is too large. */
type Came = { readonly id?: string | undefined; readonly event?: string | undefined; readonly data: string | null }

async function* eventsOf(
  body: StreamResponse['body'],
  { settings, position, rowBytesMax }: Pick<SseAsked, 'settings' | 'position' | 'rowBytesMax'>,
): AsyncGenerator<StreamBatch> {
  let came: Came[] = []
  let lastId = position.last_event_id
  let retryMs: number | undefined
  const parser = createParser({
    onEvent: (event) => void came.push(event),
    onRetry: (ms) => {
      retryMs = Math.min(ms, LIMITS.sourceBackoffMsMax)
    },
  })
  const blocks = new SseBlocks(LIMITS.sourceBatchBytesMax)
  for await (const piece of body) {
    for (const block of blocks.feed(piece)) {
      if (block.text === null)
        came.push({ id: block.id, event: block.event === '' ? undefined : block.event, data: null })
      else parser.feed(block.text)
    }
    while (came.length > 0) {
      const batch = came.slice(0, LIMITS.sourceBatchRowsMax)
      came = came.slice(LIMITS.sourceBatchRowsMax)
      lastId = batch.findLast(({ id }) => id !== undefined && id !== '')?.id ?? lastId
      yield {
        items: batch.filter(isAsked(settings)).map((event) => toText(event, rowBytesMax)),
        position: { last_event_id: lastId } satisfies SsePosition,
        retryMs,
      }
    }
    if (blocks.openBytes > EVENT_BYTES_MAX) throw endless()
  }
}

/** An event that cannot be stored is read to its end up to this size, so that the stream continues after it. */
const EVENT_BYTES_MAX = 2 * LIMITS.sourceBatchBytesMax

const endless = (): ForeignFailure =>
  new ForeignFailure(
    'response_too_large',
    `The server sent more than ${EVENT_BYTES_MAX / 1_048_576} MiB without the end of an event. Check the URL.`,
  )

const isAsked =
  ({ events }: SseSettings) =>
  ({ event = 'message' }: Came): boolean =>
    events === null || events.includes(event)

/** `{"event", "id", "data"}`: data that is JSON stays as it is, and other data is a JSON string. */
function toText({ event = 'message', id, data }: Came, bytesMax: number): string | null {
  if (data === null) return null
  const content = parseStoredJson(data).ok ? data : JSON.stringify(data)
  const text = `{"event":${JSON.stringify(event)},"id":${JSON.stringify(id ?? null)},"data":${content}}`
  return Buffer.byteLength(text) > bytesMax ? null : text
}
