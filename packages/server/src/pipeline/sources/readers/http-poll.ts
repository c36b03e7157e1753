import { LIMITS, type SourceSettings } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { isRawNumber, parseJson, stringifyJson } from '../../../domain/json/json-text.ts'
import { compilePath, readPath } from '../../../domain/routing/dot-path.ts'
import { headerText, openResponse, readBody } from './http.ts'
import { ForeignFailure } from '../../../platform/foreign-failure.ts'
import type { ReadAsked, ReadItem, ReadResult } from './types.ts'

export type HttpPollSettings = Extract<SourceSettings, { kind: 'http_poll' }>

/** The cursor of the next request, and the validators of the last response. */
type Position = { readonly cursor: string | null; readonly etag: string | null; readonly last_modified: string | null }

const SILENT_MS_MAX = 20_000
/** The pause before the next page, so that pages do not flood the API. */
const NEXT_PAGE_MS = 1_000

/** Polls an HTTP API for new items. */
export async function readHttpPoll(
  deps: Pick<Deps, 'reach' | 'deliveryUserAgent' | 'clock'>,
  asked: ReadAsked & { readonly settings: HttpPollSettings },
): Promise<ReadResult> {
  const { settings, secret, signal } = asked
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this file wrote it
  const held = (asked.position as Position | null) ?? FIRST(settings)
  const response = await openResponse(deps, {
    ...requestOf(settings, held),
    headers: { accept: 'application/json', ...secret.headers, ...requestOf(settings, held).headers },
    silentMsMax: SILENT_MS_MAX,
    signal,
  })
  const text = await readBody(response, LIMITS.sourceBatchBytesMax)
  if (response.status === 304 || text.trim() === '') return { items: [], position: held, againInMs: undefined }
  const parsed = parseJson(text)
  if (!parsed.ok) throw new ForeignFailure('invalid_body', `The response is not valid JSON: ${parsed.error}`)
  const items = itemsOf(settings, parsed.value)
  const cursor = nextCursor(settings, { response: parsed.value, items }) ?? held.cursor
  const moved = cursor !== held.cursor
  return {
    items: items.map((item) => toItem(settings, { item, rowBytesMax: asked.rowBytesMax })),
    // The validators belong to the request with the previous cursor.
    position: {
      cursor,
      etag: moved ? null : (response.headers['etag'] ?? null),
      last_modified: moved ? null : (response.headers['last-modified'] ?? null),
    } satisfies Position,
    againInMs: moved && items.length > 0 ? NEXT_PAGE_MS : undefined,
  }
}

const FIRST = ({ cursor }: HttpPollSettings): Position => ({
  cursor: cursor?.start ?? null,
  etag: null,
  last_modified: null,
})

function requestOf(
  { url, cursor }: HttpPollSettings,
  held: Position,
): { url: string; headers: Record<string, string> } {
  const headers: Record<string, string> = {}
  if (held.etag !== null) headers['if-none-match'] = held.etag
  if (held.last_modified !== null) headers['if-modified-since'] = held.last_modified
  if (cursor === null || held.cursor === null) return { url, headers }
  if (cursor.send_in === 'header')
    return { url, headers: { ...headers, [cursor.send_as.toLowerCase()]: headerText(held.cursor) } }
  const to = new URL(url)
  to.searchParams.set(cursor.send_as, held.cursor)
  return { url: to.href, headers }
}

function itemsOf({ items_path: path }: HttpPollSettings, response: unknown): readonly unknown[] {
  const found = path === null ? response : readPath(response, compilePath(path))
  if (path !== null && !Array.isArray(found))
    throw new ForeignFailure('invalid_body', `The response has no list at "${path}". Correct items_path.`)
  const items: readonly unknown[] = Array.isArray(found) ? found : [found]
  if (items.length > LIMITS.sourceBatchRowsMax)
    throw new ForeignFailure(
      'too_many_items',
      `The response has ${items.length} items, and Postroad reads at most ${LIMITS.sourceBatchRowsMax} at once. Request smaller pages.`,
    )
  return items
}

function nextCursor(
  { cursor }: HttpPollSettings,
  { response, items }: { response: unknown; items: readonly unknown[] },
): string | null {
  if (cursor === null) return null
  const from = cursor.from === 'response' ? response : items.at(-1)
  return scalarText(readPath(from, compilePath(cursor.path)))
}

/** A text or a number as text; null: the value is neither. */
function scalarText(value: unknown): string | null {
  if (isRawNumber(value)) return value.rawJSON
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

function toItem(
  { key_path: path }: HttpPollSettings,
  { item, rowBytesMax }: { item: unknown; rowBytesMax: number },
): ReadItem {
  const text = stringifyJson(item)
  return {
    text: Buffer.byteLength(text) > rowBytesMax ? null : text,
    key: path === null ? null : scalarText(readPath(item, compilePath(path))),
  }
}
