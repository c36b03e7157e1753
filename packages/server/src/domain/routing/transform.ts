import type { Transform } from '@postroad/contract'
import { plainDecimalText } from '@postroad/contract/plain'
import { isoDate } from './iso-date.ts'
import { isRawNumber, numberFromText, parseJson, stringifyJson } from '../json/json-text.ts'

/** Returns undefined for a value that it cannot convert, which counts as a missing value. */
export type Apply = (value: unknown) => unknown

const TRANSFORMS: Readonly<Record<Transform, Apply>> = {
  string: toText,
  number: toNumber,
  boolean: toBoolean,
  lowercase: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  uppercase: (value) => (typeof value === 'string' ? value.toUpperCase() : value),
  trim: (value) => (typeof value === 'string' ? value.trim() : value),
  iso_date: toIsoDate,
  json: toJson,
  base64: fromBase64,
}

/** The function of a transform's name (decisions on mappings: a closed set, so that no code runs). */
export function compileTransform(name: Transform): Apply {
  return TRANSFORMS[name]
}

/** Text stays, a number becomes its digits as received, an object or a list its JSON; null has no text. */
function toText(value: unknown): unknown {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? undefined : stringifyJson(value)
}

/** A number stays. A plain decimal in text becomes a number, with all its digits. */
function toNumber(value: unknown): unknown {
  if (typeof value === 'number' || isRawNumber(value)) return value
  if (typeof value !== 'string' || plainDecimalText(value) === undefined) return undefined
  return numberFromText(
    value
      .trim()
      .replace(/^\+/, '')
      .replace(/^(-?)0+(?=\d)/, '$1'),
  )
}

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on'])
const FALSE_WORDS = new Set(['false', '0', 'no', 'off'])

/** Accepts the words of forms and the numbers 1 and 0; anything else is missing. */
function toBoolean(value: unknown): unknown {
  if (typeof value === 'boolean') return value
  if (typeof value === 'object' && !isRawNumber(value)) return undefined
  const text = toText(value)
  if (typeof text !== 'string') return undefined
  const word = text.trim().toLowerCase()
  if (TRUE_WORDS.has(word)) return true
  return FALSE_WORDS.has(word) ? false : undefined
}

function toIsoDate(value: unknown): unknown {
  if (typeof value === 'string') return isoDate(value)
  if (typeof value === 'number') return isoDate(String(value))
  return isRawNumber(value) ? isoDate(value.rawJSON) : undefined
}

/** Text with valid JSON becomes its value, and other text is missing. Any other value is JSON already. */
function toJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const parsed = parseJson(value)
  return parsed.ok ? parsed.value : undefined
}

const BASE64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The text that base64 encodes, in either alphabet (RFC 4648), with padding or without. A JSON object or list becomes its
 * value; other text stays text, since `42` may be an id. Anything that is not base64 of UTF-8 is missing.
 */
function fromBase64(value: unknown): unknown {
  if (typeof value !== 'string') return undefined
  const encoded = value.replaceAll(/\s/g, '')
  if (!BASE64.test(encoded) || encoded.replace(/=+$/, '').length % 4 === 1) return undefined
  const text = utf8Text(Buffer.from(encoded, 'base64'))
  if (text === undefined || !/^\s*[[{]/.test(text)) return text
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : text
}

function utf8Text(bytes: Buffer): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}
