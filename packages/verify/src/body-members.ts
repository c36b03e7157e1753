import { textOf } from '#crypto'
import { splitPath } from './dot-path.ts'
import { FORM_FIELDS_MAX } from './limits.ts'
import type { Signed } from './reading.ts'

/** Reads members of a body before anything has proven it: JSON, the fields of a form, or those of a multipart form. */
export type Members = (path: string) => string | undefined

/**
 * The text at a dot path of the body; undefined: nothing is there, or an object, a list or null. A field of a form that is
 * sent twice is not there, because receivers disagree about which of the two counts.
 */
export function membersOf({ headers, body }: Pick<Signed, 'headers' | 'body'>): Members {
  let read: { readonly whole: unknown } | undefined
  return (path) => {
    read ??= { whole: wholeOf(headers['content-type'] ?? '', body) }
    const found = splitPath(path).reduce(memberOf, read.whole)
    return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
      ? String(found)
      : undefined
  }
}

function memberOf(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an own member of an object
  return (value as Readonly<Record<string, unknown>>)[step]
}

function wholeOf(type: string, body: Uint8Array): unknown {
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return onceEach(fieldsOf(textOf(body, 'utf8')))
  const boundary = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type)
  if (boundary !== null) return onceEach(partsIn(body, boundary[1] ?? boundary[2] ?? ''))
  try {
    return JSON.parse(textOf(body, 'utf8'))
  } catch {
    return undefined
  }
}

type Field = readonly [name: string, value: string]

function fieldsOf(text: string): readonly Field[] {
  return text.split('&', FORM_FIELDS_MAX + 1).length > FORM_FIELDS_MAX ? [] : [...new URLSearchParams(text)]
}

function onceEach(fields: readonly Field[]): Readonly<Record<string, string>> {
  const counts = new Map<string, number>()
  for (const [name] of fields) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries(fields.filter(([name]) => counts.get(name) === 1))
}

/** The fields of a multipart form (RFC 7578); files are left out. In Latin-1, each byte is one character. */
function partsIn(body: Uint8Array, boundary: string): readonly Field[] {
  const text = `\r\n${new TextDecoder('latin1').decode(body)}`
  const parts = text.split(`\r\n--${boundary}`, FORM_FIELDS_MAX + 2)
  if (parts.length > FORM_FIELDS_MAX + 1) return []
  // The text begins two characters before the body.
  let at = -2
  return parts.flatMap((part) => {
    const bytes = body.subarray(Math.max(at, 0), at + part.length)
    at += part.length + boundary.length + 4
    return fieldIn(part, bytes)
  })
}

function fieldIn(part: string, bytes: Uint8Array): readonly Field[] {
  const end = part.indexOf('\r\n\r\n')
  const head = part.slice(0, Math.max(end, 0))
  const name = /^content-disposition:\s*form-data\b[^\r\n]*?;\s*name="([^"\r\n]*)"/im.exec(head)?.[1]
  if (name === undefined || /;\s*filename\*?=/i.test(head)) return []
  return [[name, textOf(bytes.subarray(end + 4), 'utf8')]]
}
