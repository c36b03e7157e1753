import { sha256, textOf } from '#crypto'
import { formContent, isContent, partsOf, type SignedPart, type TIMESTAMP_FORMATS } from './described-content.ts'
import { unixSeconds } from './digest.ts'
import { FORM_FIELDS_MAX, TOLERANCE_SECONDS } from './limits.ts'
import { malformed, missing, type Reading, type Signed, type SignatureFailure } from './reading.ts'
import type { ContentSettings } from './settings.ts'

/** A signature over content that the settings describe: the part that the two schemes with such settings share. */

type Piece = string | { readonly part: SignedPart }
type Layout = { readonly before: readonly Piece[]; readonly after: readonly Piece[]; readonly isForm: boolean }

export type Called = Pick<Signed, 'headers' | 'url'>

/** The settings of an endpoint stay the same object until they change, so each description is taken apart once. */
const layouts = new WeakMap<ContentSettings, Layout>()

function layoutOf(settings: ContentSettings): Layout {
  const known = layouts.get(settings)
  if (known !== undefined) return known
  const pieces = partsOf(settings.signed)
  const at = pieces.findIndex(isContent)
  const content = pieces[at]
  const layout: Layout = {
    before: pieces.slice(0, at),
    after: pieces.slice(at + 1),
    isForm: typeof content === 'object' && content.part === 'form',
  }
  layouts.set(settings, layout)
  return layout
}

type SignedContent = Pick<Reading, 'header' | 'form' | 'value' | 'given' | 'before' | 'time' | 'failure'> & {
  readonly after: string
  readonly contentOf: ((body: Uint8Array) => string) | undefined
}

export function readSignedContent(
  { headers, url }: Called,
  settings: ContentSettings,
  wellFormed: RegExp,
): SignedContent {
  const { header, prefix, signature_item: item, timestamp_header, tolerance_seconds } = settings
  const layout = layoutOf(settings)
  const value = valueIn(headers, header)
  const given = value === undefined ? [] : signaturesIn(value, { item, prefix })
  const time = timeIn({ headers, value }, settings)
  const id = settings.id_header === null ? undefined : valueIn(headers, settings.id_header)
  const form = formOf(settings)
  const written = (pieces: readonly Piece[]): string => textWith(pieces, { timestamp: time?.text, id, url })
  return {
    header,
    form,
    value,
    given,
    before: written(layout.before),
    after: written(layout.after),
    contentOf: layout.isForm ? (body) => (isHashedIn(url, body) ? '' : formOfBody(body)) : undefined,
    time:
      time === undefined
        ? undefined
        : {
            header: time.header,
            timestamp: time.seconds,
            tolerance: tolerance_seconds ?? TOLERANCE_SECONDS,
          },
    failure:
      value === undefined
        ? missing(header)
        : (absent(settings, { id, time: timestamp_header === null ? '' : time?.text }) ??
          misshapen({ header, form, time, given, id, layout, wellFormed, settings })),
  }
}

/** True when the signed content contains the URL. */
export function signsUrl(settings: ContentSettings): boolean {
  const { before, after } = layoutOf(settings)
  return [...before, ...after].some((piece) => typeof piece === 'object' && piece.part === 'url')
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

type Time = { readonly header: string; readonly text: string | undefined; readonly seconds: number | undefined }

function timeIn(
  at: { readonly headers: Signed['headers']; readonly value: string | undefined },
  { header, timestamp_header, timestamp_item, timestamp_format }: ContentSettings,
): Time | undefined {
  if (timestamp_header === null && timestamp_item === null) return undefined
  const texts =
    timestamp_header === null
      ? itemsOf(at.value ?? '')
          .filter((text) => text.startsWith(`${timestamp_item}=`))
          .map((text) => text.slice((timestamp_item ?? '').length + 1))
      : [valueIn(at.headers, timestamp_header)]
  // A second timestamp in one header is malformed, because it is not certain which of them was signed.
  const text = texts.length === 1 ? texts[0] : undefined
  return {
    header: timestamp_header ?? header,
    text,
    seconds: text === undefined ? undefined : secondsOf(text, timestamp_format),
  }
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

function textWith(
  pieces: readonly Piece[],
  request: {
    readonly timestamp: string | undefined
    readonly id: string | undefined
    readonly url: string | undefined
  },
): string {
  let text = ''
  for (const piece of pieces) text += typeof piece === 'string' ? piece : (valueOf(piece.part, request) ?? '')
  return text
}

function valueOf(part: SignedPart, { timestamp, id, url }: Parameters<typeof textWith>[1]): string | undefined {
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

function absent(
  { id_header, timestamp_header }: ContentSettings,
  { id, time }: { readonly id: string | undefined; readonly time: string | undefined },
): SignatureFailure | undefined {
  if (id_header !== null && id === undefined) return missing(id_header)
  return timestamp_header !== null && time === undefined ? missing(timestamp_header) : undefined
}

type Shape = {
  readonly header: string
  readonly form: string
  readonly time: Time | undefined
  readonly given: readonly string[]
  readonly id: string | undefined
  readonly layout: Layout
  readonly wellFormed: RegExp
  readonly settings: ContentSettings
}

function misshapen({
  header,
  form,
  time,
  given,
  id,
  layout,
  wellFormed,
  settings,
}: Shape): SignatureFailure | undefined {
  if (!given.some((text) => wellFormed.test(text))) return malformed(header, form)
  if (id !== undefined && !isIdAlone(id, layout)) return malformed(settings.id_header ?? '', '<id>')
  if (time === undefined || time.seconds !== undefined) return undefined
  // A missing item is a fault of the form, and an item that is not a time is a fault of the timestamp.
  if (time.text === undefined) return malformed(header, form)
  return malformed(time.header, `<${FORMATS[settings.timestamp_format]}>`, 'timestamp')
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
  const at = before.findIndex((piece) => typeof piece !== 'string' && piece.part === 'id')
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
