import type { ServerResponse } from 'node:http'
import type { CloseReason } from '@postroad/contract'
import { beatText, eventText, openingText } from './frame.ts'
import { LINGER_MS, type Wire } from './wire.ts'

/** Answers 200 with an open stream of server-sent events. From then on the response belongs to this wire. */
export function openServerSentEvents(
  response: ServerResponse,
  at: { cursor: string; headers: Readonly<Record<string, string>> },
): Wire {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  response.once('close', () => gone.abort())
  response.on('error', () => gone.abort())
  response.writeHead(200, {
    ...at.headers,
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
    Connection: 'close',
  })
  response.write(openingText(at.cursor))

  return {
    dialect: 'server_sent_events',
    gone: gone.signal,
    backlogBytes: () => response.writableLength,
    write: (parcel) => {
      for (const bytes of parcel) response.write(bytes)
    },
    flushed: () =>
      new Promise((resolve) => {
        if (gone.signal.aborted || !response.writableNeedDrain) return resolve()
        const done = (): void => {
          response.off('drain', done).off('close', done)
          resolve()
        }
        response.on('drain', done).on('close', done)
      }),
    beat: (cursor) => {
      response.write(beatText(cursor))
    },
    close: (reason: CloseReason) => {
      if (response.writableEnded) return
      response.socket?.setTimeout(LINGER_MS, () => response.destroy())
      response.end(eventText({ type: 'closing', cursor: undefined, json: JSON.stringify({ reason }) }))
    },
  }
}
