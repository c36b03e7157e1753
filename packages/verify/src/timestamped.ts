import { unixSeconds } from './digest.ts'
import {
  malformed,
  missing,
  wholeOf,
  type Reading,
  type Recipe,
  type Signed,
  type SignatureFailure,
} from './reading.ts'

const FORM = 't=<unix>,v1=<hex>'
const DIGEST = /^[0-9a-fA-F]{64}$/
const RECIPE: Recipe = { prefix: '', algorithm: 'sha256', encoding: 'hex' }

/**
 * Reads `t=<unix>,v1=<hex>[,v1=<hex>…]` over `<t>.<body>` from the first of these headers that has this form. Other items are
 * ignored.
 */
export function readTimestamped(
  headers: Signed['headers'],
  options: { readonly headers: readonly [string, ...string[]]; readonly tolerance: number },
): Reading {
  const at: At = { headers, names: options.headers, tolerance: options.tolerance }
  return wholeOf(options.headers, (name) => readHeader(name, at))
}

type At = { readonly headers: Signed['headers']; readonly names: readonly string[]; readonly tolerance: number }

function readHeader(name: string, { headers, names, tolerance }: At): Reading {
  const value = headers[name.toLowerCase()]
  const header = value === undefined ? names.join(' or ') : name
  const { times, v1 } = itemsIn(value ?? '')
  const [t] = times
  const timestamp = t === undefined ? undefined : unixSeconds(t)
  return {
    header,
    form: FORM,
    value,
    given: v1,
    before: `${t ?? ''}.`,
    recipe: RECIPE,
    time: { header, timestamp, tolerance },
    failure: value === undefined ? missing(header) : problemOf(header, { times, v1, timestamp }),
  }
}

type Items = { readonly times: readonly string[]; readonly v1: readonly string[] }

/** Undefined when there is exactly one t, a number, and at least one digest. */
function problemOf(
  header: string,
  { times, v1, timestamp }: Items & { timestamp: number | undefined },
): SignatureFailure | undefined {
  if (times.length !== 1 || !v1.some((text) => DIGEST.test(text))) return malformed(header, FORM)
  return timestamp === undefined ? malformed(header, FORM, 'timestamp') : undefined
}

function itemsIn(value: string): Items {
  const times: string[] = []
  const v1: string[] = []
  for (const part of value.split(',')) {
    const item = part.trimStart()
    if (item.startsWith('v1=')) v1.push(item.slice(3))
    else if (item.startsWith('t=')) times.push(item.slice(2))
  }
  return { times, v1 }
}
