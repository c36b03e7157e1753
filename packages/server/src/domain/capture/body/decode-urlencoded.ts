import { isUtf8 } from 'node:buffer'
import { LIMITS } from '@postroad/contract/plain'
import { textOf } from './charset.ts'
import { type DecodedForm, FormCollector } from './form-fields.ts'
import { charsetsBy, formCharsets, type FormCharsets } from './form-charsets.ts'

/**
 * Reads `a=1&b=2`: `+` is a space, a pair without `=` has an empty value, and a `%` that starts no escape is itself. Nearly every
 * form is well-formed UTF-8, which is read as text; any other is read byte by byte.
 */
export function decodeUrlencoded(body: Buffer, charset?: string): DecodedForm {
  const read = isUtf8(body) ? readText(body.toString('utf8')) : undefined
  if (read === undefined) return readBytes(body, charset)
  if (!read.ok) return read
  const named = (name: string): unknown => (Object.hasOwn(read.fields, name) ? read.fields[name] : undefined)
  return charsetsBy(charset, named).isUtf8 ? read : readBytes(body, charset)
}

/** undefined: it has an escape that is malformed, or not UTF-8. */
function readText(text: string): DecodedForm | undefined {
  const form = new FormCollector()
  for (let start = 0; start < text.length;) {
    const next = text.indexOf('&', start)
    const end = next < 0 ? text.length : next
    const pair = text.slice(start, end)
    start = end + 1
    if (pair === '') continue
    const [key, value] = split(pair)
    if (key === undefined || value === undefined) return undefined
    form.add(key, value)
    if (form.keys > LIMITS.formKeysMax) return TOO_MANY
  }
  return { ok: true, fields: form.fields }
}

const TOO_MANY: DecodedForm = {
  ok: false,
  error: `The form has more than ${LIMITS.formKeysMax} keys; send JSON instead.`,
}

function split(pair: string): readonly [string | undefined, string | undefined] {
  const equals = pair.indexOf('=')
  return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(withSpaces(text))
  } catch {
    return undefined
  }
}

const PLUS = 0x2b
const SPACE = 0x20
const PERCENT = 0x25

/** `+` is a space. In bytes, because V8 joins a text from each of its pieces. */
function withSpaces(text: string): string {
  if (!text.includes('+')) return text
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === PLUS) bytes[at] = SPACE
  return bytes.toString()
}

type Pair = readonly [name: Buffer, value: Buffer]

function readBytes(body: Buffer, charset: string | undefined): DecodedForm {
  const form = new FormCollector()
  const pairs = pairsIn(body)
  const charsets = formCharsets(charset, namedFields(pairs))
  for (const pair of pairs) {
    form.add(...fieldOf(pair, charsets))
    if (form.keys > LIMITS.formKeysMax) return TOO_MANY
  }
  return { ok: true, fields: form.fields }
}

function fieldOf([name, value]: Pair, charsets: FormCharsets): readonly [string, string] {
  const key = textOf(name, charsets.all)
  return [key, textOf(value, charsets.ofField(key))]
}

function* namedFields(pairs: readonly Pair[]) {
  for (const [name, bytes] of pairs) yield { name: name.toString('latin1'), bytes }
}

function pairsIn(body: Buffer): readonly Pair[] {
  const pairs: Pair[] = []
  for (let start = 0; start < body.length;) {
    const next = body.indexOf('&', start)
    const end = next < 0 ? body.length : next
    const pair = body.subarray(start, end)
    start = end + 1
    if (pair.length === 0) continue
    const equals = pair.indexOf('=')
    pairs.push(
      equals < 0
        ? [unescaped(pair), Buffer.alloc(0)]
        : [unescaped(pair.subarray(0, equals)), unescaped(pair.subarray(equals + 1))],
    )
  }
  return pairs
}

/** `%XX` as its byte, and any other `%` as itself, as browsers read it. */
function unescaped(text: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let at = 0; at < text.length; at += 1, length += 1) {
    const byte = text[at] ?? 0
    const escaped = byte === PERCENT ? escapeAt(text, at) : undefined
    bytes[length] = escaped ?? (byte === PLUS ? SPACE : byte)
    if (escaped !== undefined) at += 2
  }
  return bytes.subarray(0, length)
}

function escapeAt(text: Buffer, at: number): number | undefined {
  const [high, low] = [hexOf(text[at + 1]), hexOf(text[at + 2])]
  return high === undefined || low === undefined ? undefined : high * 16 + low
}

function hexOf(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
