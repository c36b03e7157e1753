/** The JSON of values that PostgreSQL has written as text, as its `row_to_json` would write them: no digit is lost. */

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

type Writer = (text: string) => string

const string: Writer = (text) => JSON.stringify(text)
/** NaN and Infinity are not numbers in JSON. */
const number: Writer = (text) => (JSON_NUMBER.test(text) ? text : string(text))
const boolean: Writer = (text) => (text === 't' ? 'true' : 'false')
/** PostgreSQL has checked that the text is JSON. */
const json: Writer = (text) => text
/** `2026-01-01 00:00:00.123+00` → `2026-01-01T00:00:00.123+00:00`. */
const time: Writer = (text) =>
  string(
    text.replace(
      /^(\d{4,}-\d\d-\d\d) (\S+?)([+-]\d\d)?$/,
      (_all, ...[day, hour, zone]: string[]) => `${day}T${hour}${zone === undefined ? '' : `${zone}:00`}`,
    ),
  )

/** The types of the catalog with a fixed id: the writer of a value, and the type of the array of such values. */
const TYPES: readonly (readonly [name: string, id: number, ofArray: number, writer: Writer])[] = [
  ['bool', 16, 1_000, boolean],
  ['int8', 20, 1_016, number],
  ['int2', 21, 1_005, number],
  ['int4', 23, 1_007, number],
  ['oid', 26, 1_028, number],
  ['float4', 700, 1_021, number],
  ['float8', 701, 1_022, number],
  ['numeric', 1_700, 1_231, number],
  ['json', 114, 199, json],
  ['jsonb', 3_802, 3_807, json],
  ['timestamp', 1_114, 1_115, time],
  ['timestamptz', 1_184, 1_185, time],
  ['text', 25, 1_009, string],
  ['bpchar', 1_042, 1_014, string],
  ['varchar', 1_043, 1_015, string],
  ['date', 1_082, 1_182, string],
  ['uuid', 2_950, 2_951, string],
]

const WRITERS: ReadonlyMap<number, Writer> = new Map(
  TYPES.flatMap(([, id, ofArray, writer]): [number, Writer][] => [
    [id, writer],
    [ofArray, (text) => arrayJson(text, writer)],
  ]),
)

/** The JSON of one value. A type that this file does not know is a string. */
export function valueJson(text: string | null, typeId: number): string {
  return text === null ? 'null' : (WRITERS.get(typeId) ?? string)(text)
}

/** `{1,NULL,"a b",{2}}` → JSON. A lower bound before the braces, as in `[0:1]={1,2}`, is left out as `row_to_json` does. */
function arrayJson(text: string, writer: Writer): string {
  const start = text.indexOf('{')
  if (start === -1) return string(text)
  let at = start
  let out = ''
  while (at < text.length) {
    const char = text[at]
    if (char === '{' || char === '}' || char === ',') {
      out += char === '{' ? '[' : char === '}' ? ']' : ','
      at += 1
      continue
    }
    const { value, end } = char === '"' ? quotedElement(text, at) : plainElement(text, at)
    out += value === null ? 'null' : writer(value)
    at = end
  }
  return out
}

type Element = { readonly value: string | null; readonly end: number }

function plainElement(text: string, from: number): Element {
  let end = from
  while (end < text.length && !',{}'.includes(text.charAt(end))) end += 1
  const value = text.slice(from, end)
  return { value: value === 'NULL' ? null : value, end }
}

function quotedElement(text: string, from: number): Element {
  let value = ''
  let at = from + 1
  while (at < text.length && text[at] !== '"') {
    if (text[at] === '\\') at += 1
    value += text.charAt(at)
    at += 1
  }
  return { value, end: at + 1 }
}
