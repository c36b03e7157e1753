/** Numbers that JavaScript may print differently: with many digits, with an exponent, tiny, ending in a zero, or -0. */
const RESPELLED = /[:,[]\s*-?(?:0\.0{6}|[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d))|[:,[]\s*-0/

type Reading = { readonly source?: string }
type SourceJson = {
  readonly rawJSON: (source: string) => unknown
  readonly parse: (text: string, revive: (key: string, value: unknown, reading: Reading) => unknown) => unknown
}
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node has these, TypeScript's library not yet
const json = JSON as unknown as SourceJson

/**
 * Parses the content of a json column without losing a digit. A number that a double cannot reproduce as written retains its
 * source text, which `JSON.stringify` writes unchanged. JSON made from ordinary numbers has none of these and is parsed at full
 * speed.
 */
export function readExactJson(text: string): unknown {
  if (!RESPELLED.test(text)) return JSON.parse(text)
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  )
}
