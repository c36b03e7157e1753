/** Numbers that JavaScript may spell in another way: of many digits, with an exponent, tiny, ending in a zero, or -0. */
const RESPELLED = /[:,[]\s*-?(?:0\.0{6}|[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d))|[:,[]\s*-0/

type Reading = { readonly source?: string }
type SourceJson = {
  readonly rawJSON: (source: string) => unknown
  readonly parse: (text: string, revive: (key: string, value: unknown, reading: Reading) => unknown) => unknown
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node has these, TypeScript's library not yet
const json = JSON as unknown as SourceJson

/**
 * Reads what a json column holds without losing a digit: a number that a double cannot give back as written stays its source,
 * which `JSON.stringify` writes as it came. What we wrote from ordinary numbers has none of these, and is read at full speed.
 */
export function readKeptJson(text: string): unknown {
  if (!RESPELLED.test(text)) return JSON.parse(text)
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  )
}
