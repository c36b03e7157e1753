import { plainDecimalText, type Transform } from '@postroad/contract'
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
