import type { BodyForm, SentRequest } from '@postroad/contract'
import { headersToSend, queryToSend } from '@postroad/contract/sent-again'
import { envelope, thinEnvelope, type Event } from './delivery-request.ts'

/** The stored request behind a record. */
export type ReceivedRequest = {
  /** The record has its whole payload. false: a mapping made the record. */
  readonly is_whole: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly query: string | null
  readonly path: string | null
  /** Empty when it was not read. */
  readonly body: string | Buffer
}

/** The settings of a destination for the body and the headers of the request. */
export type BodySettings = { readonly body: BodyForm; readonly forward_headers: readonly string[] }

/** The settings in a row, where null is the default. */
export const bodySettings = (row: {
  readonly body: BodyForm | null
  readonly forward_headers: readonly string[] | null
}): BodySettings => ({ body: row.body ?? 'envelope', forward_headers: row.forward_headers ?? [] })

/** The parts of an event that deliveries need beside its payload. */
export type Need = 'nothing' | 'request' | 'request_and_body'

export function neededOf(
  { body, forward_headers }: BodySettings,
  template: { readonly usesRequest: boolean } | null | undefined,
): Need {
  if (body === 'as_received') return 'request_and_body'
  return forward_headers.length > 0 || template?.usesRequest === true ? 'request' : 'nothing'
}

/** The parts of a delivery that its event alone determines. */
export type DeliveryBody = {
  readonly body: string | Buffer
  readonly form: SentRequest['body_form']
  /** Set when `form` is not the one of the destination. */
  readonly reason: SentRequest['body_reason']
  /** Headers of the request that go along, names in lower case. */
  readonly forwarded: Readonly<Record<string, string>>
  /** Sent after the query string of the URL. */
  readonly query: string
}

/** `request` undefined: no sender sent the event. It uses only stored data, so every attempt sends the same bytes. */
export function deliveryBody(
  event: Event,
  {
    settings,
    request,
    baseUrl,
  }: { readonly settings: BodySettings; readonly request: ReceivedRequest | undefined; readonly baseUrl: string },
): DeliveryBody {
  const { body, forward_headers } = settings
  const forwarded = request === undefined ? {} : named(headersToSend(request.headers), forward_headers)
  const rest = { reason: null, forwarded, query: '' }
  if (body === 'envelope') return { ...rest, body: envelope(event), form: null }
  if (body === 'thin') return { ...rest, body: thinEnvelope(event, baseUrl), form: body }
  if (body === 'data') return { ...rest, body: event.data, form: body }
  if (request === undefined) return { ...rest, body: event.data, form: 'data', reason: 'no_request' }
  if (!request.is_whole) return { ...rest, body: event.data, form: 'data', reason: 'mapped' }
  return { ...asReceived(request), form: body, reason: null }
}

function asReceived({ headers, query, body }: ReceivedRequest): Pick<DeliveryBody, 'body' | 'forwarded' | 'query'> {
  const sent = Object.entries(headersToSend(headers)).filter(([name]) => !isOwn(name))
  return { body, forwarded: sendable(Object.fromEntries(sent)), query: queryToSend(query) }
}

/** Postroad's own headers, and the one about the answer, which Postroad reads and the sender does not. */
const isOwn = (name: string): boolean =>
  name.startsWith('service-') || name === 'traceparent' || name === 'tracestate' || name === 'accept-encoding'

function named(headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  const wanted = names.map((name) => name.toLowerCase())
  return sendable(
    Object.fromEntries(wanted.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))),
  )
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** A header that no request may contain would fail every attempt, so it is left out. */
const sendable = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => NAME.test(name) && VALUE.test(value)))

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A body as text, or in base64 if it is not text. */
export function shownBody(body: string | Buffer): { readonly text: string | null; readonly base64: string | null } {
  if (typeof body === 'string') return { text: body, base64: null }
  try {
    return { text: decoder.decode(body), base64: null }
  } catch {
    return { text: null, base64: body.toString('base64') }
  }
}
