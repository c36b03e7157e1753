import { encodeId, STREAM_RETRY_MS, type StreamFrameType } from '@postroad/contract'
import { encodePosition, partwayPrefix, type Position } from '../../domain/serving/stream-cursor.ts'
import { originOf, verificationOf } from '../../resources/capture/submissions/index.ts'
import { positionAfter, type Page, type StreamRow } from '../../resources/serving/stream/index.ts'

/** One event of a stream: its name, the cursor after it, and JSON text. */
export type Frame = { readonly type: StreamFrameType; readonly cursor: string | undefined; readonly json: string }

/** The format of frames on a wire. */
export type Dialect = 'server_sent_events' | 'web_socket'

/**
 * The content of a record's frame: `sender` adds the endpoint or the origin of the record and the title that its headers give, `request` also adds
 * the request as received.
 */
export type Detail = 'envelope' | 'sender' | 'request'

/** The payload is inserted byte for byte, so that a stream shows exactly what a destination gets. */
function recordFrame(row: StreamRow, { cursor, detail }: { cursor: string; detail: Detail }): Frame {
  const head = `{"id":"${encodeId('record', row.id)}","dataset":"${row.dataset}","received_at":"${row.received_at.toISOString()}"`
  const sender = detail === 'envelope' ? '' : senderOf(row)
  const request = detail === 'request' ? requestOf(row) : ''
  return { type: 'record', cursor, json: `${head}${sender}${request},"data":${row.data}}` }
}

function senderOf(row: StreamRow): string {
  const webhook = row.webhook_id === null ? null : encodeId('webhook', row.webhook_id)
  return (
    `,"webhook_id":${JSON.stringify(webhook)},"origin":${JSON.stringify(originOf(row))},` +
    `"verification":"${verificationOf(row)}","header_title":${JSON.stringify(row.header_title)}`
  )
}

/** The body is a JSON string, so that its line ends survive too, or base64 when it is not text. */
function requestOf({
  submission_id,
  is_request,
  request_path,
  request_query,
  request_headers,
  request_body,
  request_bytes,
}: StreamRow): string {
  const base64 = request_bytes?.toString('base64') ?? null
  return (
    `,"submission_id":"${encodeId('submission', submission_id)}","request":{"method":${is_request ? '"POST"' : 'null'},` +
    `"path":${JSON.stringify(request_path)},"query":${JSON.stringify(request_query)},"headers":${request_headers ?? '{}'},` +
    `"body":${JSON.stringify(request_body)},"body_base64":${JSON.stringify(base64)}}`
  )
}

/** The frames of a page. The last one ends the read, so its cursor is a complete position. */
export function recordFrames(
  page: Page,
  { wanted, detail }: { wanted: (row: StreamRow) => boolean; detail: Detail },
): readonly Frame[] {
  const prefix = partwayPrefix(page)
  const last = page.more ? undefined : page.rows.at(-1)
  const frames: Frame[] = []
  for (const row of page.rows) {
    if (wanted(row))
      frames.push(
        recordFrame(row, {
          cursor: row === last ? encodePosition(positionAfter(page, undefined)) : prefix + row.id,
          detail,
        }),
      )
  }
  return frames
}

/** The position of a reader after a page. */
export function pageEnd(page: Page): Position {
  return positionAfter(page, page.more ? page.rows.at(-1) : undefined)
}

const LINE_END = /\r\n|\r|\n/g

/** One data line (decisions §5). A line end in JSON text is always between two tokens, so a space means the same. */
export function eventText({ type, cursor, json }: Frame): string {
  const id = cursor === undefined ? '' : `id: ${cursor}\n`
  return `${id}event: ${type}\ndata: ${json.replace(LINE_END, ' ')}\n\n`
}

export function messageText({ type, cursor, json }: Frame): string {
  const id = cursor === undefined ? '' : `"id":"${cursor}",`
  return `{"type":"${type}",${id}"data":${json}}`
}

/** The first block of an SSE stream: the delay of a reconnect, and the cursor for it if no event follows. */
export const openingText = (cursor: string): string => `retry: ${STREAM_RETRY_MS}\nid: ${cursor}\n\n`

/** A comment. With a cursor it also advances a reader whose filter matches nothing. */
export const beatText = (cursor: string | undefined): string =>
  cursor === undefined ? ': keepalive\n\n' : `: keepalive\nid: ${cursor}\n\n`
