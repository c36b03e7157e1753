import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { LIMITS, type SourceSettings } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import { connectionFailure, headerText, openResponse } from './http.ts'
import { ForeignFailure } from '../../../platform/foreign-failure.ts'
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

async function* eventsOf(
  body: AsyncIterable<Uint8Array>,
  { settings, position, rowBytesMax }: Pick<SseAsked, 'settings' | 'position' | 'rowBytesMax'>,
): AsyncGenerator<StreamBatch> {
  let came: EventSourceMessage[] = []
  let lastId = position.last_event_id
  let retryMs: number | undefined
  const parser = createParser({
    onEvent: (event) => void came.push(event),
    onRetry: (ms) => {
      retryMs = Math.min(ms, LIMITS.sourceBackoffMsMax)
    },
    maxBufferSize: LIMITS.sourceBatchBytesMax,
  })
  const decoder = new TextDecoder()
  for await (const piece of body) {
    parser.feed(decoder.decode(piece, { stream: true }))
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
  }
}

const isAsked =
  ({ events }: SseSettings) =>
  ({ event = 'message' }: EventSourceMessage): boolean =>
    events === null || events.includes(event)

/** `{"event", "id", "data"}`: data that is JSON stays as it is, and other data is a JSON string. */
function toText({ event = 'message', id, data }: EventSourceMessage, bytesMax: number): string | null {
  const content = parseStoredJson(data).ok ? data : JSON.stringify(data)
  const text = `{"event":${JSON.stringify(event)},"id":${JSON.stringify(id ?? null)},"data":${content}}`
  return Buffer.byteLength(text) > bytesMax ? null : text
}
