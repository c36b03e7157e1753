import {
  anyEqual,
  digest,
  malformed,
  mismatch,
  missing,
  type Signed,
  type SignatureFailure,
  staleness,
  unixSeconds,
} from './digest.ts'

/**
 * Checks `t=<unix>,v1=<hex>[,v1=<hex>…]` over `<t>.<body>` in the first of these headers that is there. Other items
 * are ignored.
 */
export function verifyTimestamped(
  request: Signed,
  options: { readonly headers: readonly string[]; readonly tolerance: number },
): SignatureFailure | undefined {
  const name = options.headers.find((header) => request.headers[header.toLowerCase()] !== undefined)
  const value = name === undefined ? undefined : request.headers[name.toLowerCase()]
  if (name === undefined || value === undefined) return missing(options.headers.join(' or '))

  const parsed = parse(value)
  if (parsed === undefined) return malformed(name, 't=<unix>,v1=<hex>')

  const before = `${parsed.t}.`
  const matches = request.secrets.some((key) =>
    anyEqual(parsed.v1, digest({ key, before, body: request.body, encoding: 'hex' })),
  )
  if (!matches) return mismatch(name)
  return staleness({ timestamp: parsed.timestamp, nowSeconds: request.nowSeconds, tolerance: options.tolerance })
}

type Parsed = { readonly t: string; readonly timestamp: number; readonly v1: readonly string[] }

/** Undefined when there is no single well-formed t, or no v1. */
function parse(value: string): Parsed | undefined {
  let t: string | undefined
  const v1: string[] = []
  for (const part of value.split(',')) {
    const item = part.trimStart()
    if (item.startsWith('v1=')) {
      v1.push(item.slice(3))
    } else if (item.startsWith('t=')) {
      if (t !== undefined) return undefined
      t = item.slice(2)
    }
  }
  const timestamp = t === undefined ? undefined : unixSeconds(t)
  return t === undefined || timestamp === undefined || v1.length === 0 ? undefined : { t, timestamp, v1 }
}
