import { LIMITS } from '@postroad/contract/plain'
import { readJson } from './json-reader.ts'

/** A number whose digits a double would lose. `JSON.stringify` writes its source unchanged. */
export type RawNumber = { readonly rawJSON: string }

export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string }

type RawJson = {
  readonly rawJSON: (source: string) => RawNumber
  readonly isRawJSON: (value: unknown) => value is RawNumber
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node has these, TypeScript's library not yet
const json = JSON as unknown as RawJson

const QUOTE = 0x22
const BACKSLASH = 0x5c
const PLAIN = 0
const LOSSY = 1

/**
 * Parses JSON without losing a digit: a number that a double cannot reproduce as written (12345678901234567890, 1e400, -0,
 * 1.50) becomes a `RawNumber`. Never throws. Nesting is limited, by default to 128 levels. The error is one sentence with the
 * position.
 */
export function parseJson(text: string, depthMax: number = LIMITS.jsonDepthMax): ParsedJson {
  const found = scan(text, depthMax)
  if (found < 0) {
    const place = placeOf(text, -found - 1)
    return { ok: false, error: `The body is nested more than ${depthMax} levels deep${place}; flatten it.` }
  }
  return found === LOSSY ? readLossless(text) : readPlain(text)
}

/**
 * Parses stored JSON without a depth limit: it was limited when it came in, and the result of a mapping must always be
 * readable.
 */
export function parseStoredJson(text: string): ParsedJson {
  return parseJson(text, Infinity)
}

/** The JSON text of a value from `parseJson`. Raw numbers keep every digit. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value)
}

/** Whether the value is a number that is stored as its source. */
export function isRawNumber(value: unknown): value is RawNumber {
  return typeof value === 'object' && json.isRawJSON(value)
}

/** A value that `JSON.stringify` writes as this text, which is the JSON of a single value. */
export const rawJson = (text: string): RawNumber => json.rawJSON(text)

/** An ordinary number if that loses nothing, otherwise the source. */
export function numberFromText(source: string): number | RawNumber {
  const value = Number(source)
  return String(value) === source ? value : json.rawJSON(source)
}

function readPlain(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return readLossless(text)
  }
}

function readLossless(text: string): ParsedJson {
  const read = readJson(text, numberFromText)
  return read.ok ? read : { ok: false, error: syntaxErrorSentence(text, read.at) }
}

/** One pass before the parser: PLAIN, LOSSY when a number would change, or `-(at + 1)` where the nesting is too deep. */
function scan(text: string, depthMax: number): number {
  let depth = 0
  let verdict = PLAIN
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > depthMax) return -(at + 1)
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1
    } else if (isDigit(code) || code === 0x2d) {
      const end = endOfNumber(text, at)
      if (verdict === PLAIN && losesDigits(text, at, end)) verdict = LOSSY
      at = end - 1
    }
  }
  return verdict
}

/** The end of the string that starts here, at its closing quotation mark. */
export function endOfString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return at
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2d || code === 0x2e || code === 0x45 || code === 0x65 || code === 0x2b
}

/** The position after the number that starts here. */
export function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at += 1
  return at
}

/** Whether a double would change the digits of the number. */
export function losesDigits(text: string, start: number, end: number): boolean {
  if (isShortInteger(text, start, end)) return false
  const source = text.slice(start, end)
  return String(Number(source)) !== source
}

/** Fifteen characters of digits always survive; `-0` does not. */
function isShortInteger(text: string, start: number, end: number): boolean {
  if (end - start > 15 || text.startsWith('-0', start)) return false
  for (let at = start + 1; at < end; at += 1) {
    if (!isDigit(text.charCodeAt(at))) return false
  }
  return true
}

function syntaxErrorSentence(text: string, at: number): string {
  const what = at >= text.length ? 'it ends too early' : `unexpected ${nameOf(text, at)}`
  return `The body is not valid JSON: ${what}${placeOf(text, at)}.`
}

function nameOf(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0
  const letter = String.fromCodePoint(code)
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(letter)
    ? `"${letter}"`
    : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  return ` at line ${line}, column ${at - before.lastIndexOf('\n')}`
}
