import { sha256, textOf } from '#crypto'
import { membersOf, type Members } from './body-members.ts'
import {
  formContent,
  isContent,
  partsOf,
  type SignedPart,
  type SignedPlace,
  type TIMESTAMP_FORMATS,
} from './described-content.ts'
import { unixSeconds } from './digest.ts'
import { FORM_FIELDS_MAX, TOLERANCE_SECONDS } from './limits.ts'
import { malformed, missing, type Place, type Reading, type Signed, type SignatureFailure } from './reading.ts'
import type { ContentSettings } from './settings.ts'
import { urlSpellings } from './url-spellings.ts'

/** A signature over content that the settings describe: the part that the two schemes with such settings share. */

type Piece = string | SignedPlace
type Layout = {
  readonly before: readonly Piece[]
  readonly after: readonly Piece[]
  /** The part in the middle; undefined: the signature covers members of the body, and not the whole. */
  readonly content: 'body' | 'form' | undefined
}

export type Called = Pick<Signed, 'headers' | 'url'> & { readonly body?: Uint8Array | undefined }

/** The settings of an endpoint stay the same object until they change, so each description is taken apart once. */
const layouts = new WeakMap<ContentSettings, Layout>()

function layoutOf(settings: ContentSettings): Layout {
  const known = layouts.get(settings)
  if (known !== undefined) return known
  const pieces = partsOf(settings.signed)
  const at = pieces.findIndex(isContent)
  const content = pieces[at]
  const isForm = typeof content === 'object' && 'part' in content && content.part === 'form'
  const layout: Layout =
    at < 0
      ? { before: pieces, after: [], content: undefined }
      : { before: pieces.slice(0, at), after: pieces.slice(at + 1), content: isForm ? 'form' : 'body' }
  layouts.set(settings, layout)
  return layout
}

type SignedContent = Pick<
  Reading,
  'header' | 'isInBody' | 'form' | 'value' | 'given' | 'before' | 'time' | 'failure'
> & {
  readonly after: string
  readonly contentOf: ((body: Uint8Array) => string) | undefined
}

export function readSignedContent(called: Called, settings: ContentSettings, wellFormed: RegExp): SignedContent {
  const { headers, url, body } = called
  const { prefix, signature_item: item, tolerance_seconds } = settings
  const layout = layoutOf(settings)
  const members = membersOf({ headers, body: body ?? EMPTY })
  const place = placeOf(settings)
  const value = place.isInBody ? members(place.header) : valueIn(headers, place.header)
  const given = value === undefined ? [] : signaturesIn(value, { item, prefix })
  const time = timeIn({ headers, members, value }, settings)
  const id = settings.id_header === null ? undefined : valueIn(headers, settings.id_header)
  const form = formOf(settings)
  const written = (pieces: readonly Piece[]): string => textWith(pieces, { timestamp: time?.text, id, url, members })
  return {
    ...place,
    form,
    value,
    given,
    before: written(layout.before),
    after: written(layout.after),
    contentOf: contentOf(layout, url),
    time:
      time === undefined
        ? undefined
        : {
            header: time.header,
            isInBody: time.isInBody,
            timestamp: time.seconds,
            tolerance: tolerance_seconds ?? TOLERANCE_SECONDS,
          },
    failure:
      value === undefined
        ? missing(place)
        : (absent(settings, { id, time }) ?? misshapen({ place, form, time, given, id, layout, wellFormed, settings })),
  }
}

const EMPTY = new Uint8Array()

/** Where the signature is. A path in the body counts before a header. */
function placeOf({ header, signature_path: path }: Pick<ContentSettings, 'header' | 'signature_path'>): Place {
  return typeof path === 'string' ? { header: path, isInBody: true } : { header, isInBody: false }
}

/** The signed form of the body; undefined: the body as it is. */
function contentOf({ content }: Layout, url: string | undefined): SignedContent['contentOf'] {
  switch (content) {
    case 'body':
      return undefined
    case 'form':
      return (body) => (isHashedIn(url, body) ? '' : formOfBody(body))
    case undefined:
      return () => ''
  }
}

type ByUrl = { readonly settings: ContentSettings; readonly read: (called: Called) => Reading }

/** Reads a request whose signature covers the URL once for each spelling of it that senders use. */
export function inEachSpelling(called: Called, { settings, read }: ByUrl): Reading {
  if (called.url === undefined || !signsUrl(settings)) return read(called)
  const readings = urlSpellings(called.url).map((url) => read({ ...called, url }))
  const whole = readings.reduceRight<Reading | undefined>(
    (otherwise, reading) => (otherwise === undefined ? reading : { ...reading, otherwise }),
    undefined,
  )
  return whole ?? read(called)
}

/** True when the signed content contains the URL. */
function signsUrl(settings: ContentSettings): boolean {
  const { before, after } = layoutOf(settings)
  return [...before, ...after].some((piece) => typeof piece === 'object' && 'part' in piece && piece.part === 'url')
}

/**
 * Twilio signs a body that is no form by its SHA-256 in the signed URL, as the parameter `bodySHA256`. Such a body adds
 * nothing else to the signed content.
 */
function isHashedIn(url: string | undefined, body: Uint8Array): boolean {
  const at = url?.indexOf('?') ?? -1
  if (url === undefined || at < 0 || !url.includes('bodySHA256=', at)) return false
  const hash = new URLSearchParams(url.slice(at + 1)).get('bodySHA256')
  return hash?.toLowerCase() === sha256({ content: body, encoding: 'hex' })
}

/** A tenant chooses the name of a header, so `constructor` must not find an inherited property. */
export function valueIn(headers: Signed['headers'], header: string): string | undefined {
  const name = header.toLowerCase()
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

/** Each possible signature in a header: every item of a list, split by white space or comma, without the prefix. */
function signaturesIn(
  value: string,
  { item, prefix }: { readonly item: string | null; readonly prefix: string },
): readonly string[] {
  const start = item === null ? prefix : `${item}=${prefix}`
  const texts = item === null ? [value, ...value.split(/\s+/), ...value.split(/[\s,]+/)] : itemsOf(value)
  return texts.filter((text) => text.startsWith(start)).map((text) => text.slice(start.length))
}

/** `t=1,v1=ab` or `ts=1;h1=ab`. */
function itemsOf(value: string): readonly string[] {
  return value.split(/[,;]/).map((text) => text.trimStart())
}

type Time = Place & { readonly text: string | undefined; readonly seconds: number | undefined }
type At = {
  readonly headers: Signed['headers']
  readonly members: Members
  readonly value: string | undefined
}

function timeIn(at: At, settings: ContentSettings): Time | undefined {
  const found = timeTextsIn(at, settings)
  if (found === undefined) return undefined
  const { texts, ...place } = found
  // A second timestamp in one header is malformed, because it is not certain which of them was signed.
  const text = texts.length === 1 ? texts[0] : undefined
  return { ...place, text, seconds: text === undefined ? undefined : secondsOf(text, settings.timestamp_format) }
}

function timeTextsIn(
  { headers, members, value }: At,
  { header, signature_path, timestamp_path: path, timestamp_header, timestamp_item: item }: ContentSettings,
): (Place & { readonly texts: readonly (string | undefined)[] }) | undefined {
  if (typeof path === 'string') return { header: path, isInBody: true, texts: [members(path)] }
  if (timestamp_header !== null)
    return { header: timestamp_header, isInBody: false, texts: [valueIn(headers, timestamp_header)] }
  if (item === null) return undefined
  const texts = itemsOf(value ?? '').filter((text) => text.startsWith(`${item}=`))
  return { ...placeOf({ header, signature_path }), texts: texts.map((text) => text.slice(item.length + 1)) }
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?<zone>Z|[+-]\d{2}:\d{2})?$/

/** A timestamp without a zone is in UTC. */
function secondsOf(text: string, format: (typeof TIMESTAMP_FORMATS)[number]): number | undefined {
  if (format !== 'rfc3339') {
    const count = unixSeconds(text)
    return count === undefined || format === 'seconds' ? count : Math.floor(count / 1_000)
  }
  const found = RFC3339.exec(text)
  if (found === null) return undefined
  const time = Date.parse(found.groups?.['zone'] === undefined ? `${text}Z` : text)
  return Number.isNaN(time) ? undefined : Math.floor(time / 1_000)
}

type Filled = {
  readonly timestamp: string | undefined
  readonly id: string | undefined
  readonly url: string | undefined
  readonly members: Members
}

function textWith(pieces: readonly Piece[], request: Filled): string {
  let text = ''
  for (const piece of pieces)
    text +=
      typeof piece === 'string'
        ? piece
        : (('part' in piece ? valueOf(piece.part, request) : request.members(piece.member)) ?? '')
  return text
}

function valueOf(part: SignedPart, { timestamp, id, url }: Filled): string | undefined {
  switch (part) {
    case 'timestamp':
      return timestamp
    case 'id':
      return id
    case 'url':
      return url
    case 'method':
      return 'POST'
    case 'body':
    case 'form':
      return undefined
  }
}

/** A missing item of the signature header is a fault of its form, and not a missing header. */
function absent(
  { id_header, timestamp_header, timestamp_path }: ContentSettings,
  { id, time }: { readonly id: string | undefined; readonly time: Time | undefined },
): SignatureFailure | undefined {
  if (id_header !== null && id === undefined) return missing(id_header)
  const isAlone = timestamp_header !== null || typeof timestamp_path === 'string'
  return isAlone && time !== undefined && time.text === undefined ? missing(time) : undefined
}

type Shape = {
  readonly place: Place
  readonly form: string
  readonly time: Time | undefined
  readonly given: readonly string[]
  readonly id: string | undefined
  readonly layout: Layout
  readonly wellFormed: RegExp
  readonly settings: ContentSettings
}

function misshapen({
  place,
  form,
  time,
  given,
  id,
  layout,
  wellFormed,
  settings,
}: Shape): SignatureFailure | undefined {
  if (!given.some((text) => wellFormed.test(text))) return malformed(place, form)
  if (id !== undefined && !isIdAlone(id, layout)) return malformed(settings.id_header ?? '', '<id>')
  if (time === undefined || time.seconds !== undefined) return undefined
  // A missing item is a fault of the form, and an item that is not a time is a fault of the timestamp.
  if (time.text === undefined) return malformed(place, form)
  return malformed(time, `<${FORMATS[settings.timestamp_format]}>`, 'timestamp')
}

const FORMATS = { seconds: 'unix seconds', milliseconds: 'unix milliseconds', rfc3339: 'date and time' } as const

/** `t=<unix seconds>,v1=<hex>`. */
function formOf(settings: ContentSettings): string {
  const { prefix, encoding, signature_item: item, timestamp_item: time, timestamp_format } = settings
  const start = time === null ? '' : `${time}=<${FORMATS[timestamp_format]}>,`
  return `${start}${item === null ? '' : `${item}=`}${prefix}<${encoding}>`
}

/** The text behind the id marks its end. An id with this text in it could move the border, and so sign another body. */
function isIdAlone(id: string, { before }: Layout): boolean {
  const at = before.findIndex((piece) => typeof piece !== 'string' && 'part' in piece && piece.part === 'id')
  const next = before[at + 1]
  return typeof next !== 'string' || !id.includes(next)
}

/** A form with more fields than a body may have signs nothing: sorting them would take too long. */
function formOfBody(body: Uint8Array): string {
  const text = textOf(body, 'utf8')
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) fields += 1
  return fields > FORM_FIELDS_MAX ? '' : formContent(text)
}
