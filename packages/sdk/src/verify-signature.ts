/** For receivers of Postroad's deliveries. It needs only Web Crypto, so it runs in Node, at the edge and in browsers. */

export type SignedRequest = {
  /** The body as received, before any parser changed it: a signature covers bytes. */
  readonly body: string | Uint8Array | ArrayBuffer
  /** The request headers: `Headers`, or an object such as Node's `request.headers`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The largest difference between the signed time and now, in both directions. Default: 300. */
  readonly toleranceSeconds?: number
  /** Milliseconds since 1970; for tests. */
  readonly now?: number
} & (
  | { readonly secret: string; readonly secrets?: never }
  /** All secrets that can be in use during a rotation. */
  | { readonly secrets: readonly string[]; readonly secret?: never }
)

/** The content of a delivery. `id` is the same on every retry and replay: store it to process an event only once. */
export type DeliveredEvent = {
  readonly id: string
  readonly dataset: string
  readonly received_at: string
  /** Absent in a thin delivery, whose `url` returns it to a Data API key. */
  readonly data?: unknown
  readonly url?: string
}

export type SignatureReason = 'missing_header' | 'bad_signature' | 'stale_timestamp' | 'invalid_body'

/** The reason why a request is not a valid delivery. Answer it with 401 and do nothing else. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly reason: SignatureReason

  constructor(reason: SignatureReason, message: string) {
    super(message)
    this.reason = reason
  }
}

const SIGNATURES_MAX = 16

/**
 * Checks that a request is a delivery signed with the secret of its destination, by `Service-Signature` or, if that header is missing,
 * by `webhook-signature` (standardwebhooks.com), and returns its event. Otherwise it throws a `SignatureError`.
 */
export async function verifySignature(request: SignedRequest): Promise<DeliveredEvent> {
  const secrets = request.secrets ?? [request.secret]
  if (secrets.length === 0 || secrets.includes(''))
    throw new TypeError('verifySignature needs the signing secret of the destination (whsec_…).')
  const body = bytesOf(request.body)
  const signed = signatureIn(request.headers)
  if (!(await anyMatches({ ...signed, secrets, body }))) {
    throw new SignatureError(
      'bad_signature',
      `The signature in ${signed.header} does not match the body and the secret. Check the secret, and that nothing has changed the body.`,
    )
  }
  checkTime(signed.time, request)
  return eventIn(body)
}

type Signature = {
  readonly header: string
  readonly time: string
  /** The signed text before the body. */
  readonly before: string
  readonly candidates: readonly string[]
  readonly decode: (text: string) => Uint8Array<ArrayBuffer> | undefined
  readonly keyOf: (secret: string) => Uint8Array<ArrayBuffer>
}

function signatureIn(headers: SignedRequest['headers']): Signature {
  const own = headerIn(headers, 'service-signature')
  if (own !== undefined) return serviceSignature(own)
  const standard = headerIn(headers, 'webhook-signature')
  if (standard !== undefined) return standardSignature(headers, standard)
  throw new SignatureError(
    'missing_header',
    'The request has neither a Service-Signature nor a webhook-signature header, so it is not a signed delivery.',
  )
}

/** `t=<unix>,v1=<hex>[,v1=<hex>]` over `<t>.<body>`; the key is the text of the secret. */
function serviceSignature(value: string): Signature {
  const items = value.split(',').map((item) => item.trim())
  const times = items.filter((item) => item.startsWith('t=')).map((item) => item.slice(2))
  const candidates = items.filter((item) => item.startsWith('v1=')).map((item) => item.slice(3))
  const [time = ''] = times
  if (times.length !== 1 || !isTime(time) || candidates.length === 0)
    throw malformed('Service-Signature', 't=<unix>,v1=<hex>')
  return {
    header: 'Service-Signature',
    time,
    before: `${time}.`,
    candidates,
    decode: fromHex,
    keyOf: (secret) => new TextEncoder().encode(secret),
  }
}

/** `v1,<base64> [v1,<base64>]` over `<webhook-id>.<webhook-timestamp>.<body>`; the key is the base64 in the secret. */
function standardSignature(headers: SignedRequest['headers'], value: string): Signature {
  const id = headerIn(headers, 'webhook-id')
  const time = headerIn(headers, 'webhook-timestamp')
  if (id === undefined || time === undefined) {
    throw new SignatureError(
      'missing_header',
      'The request has a webhook-signature header, but webhook-id or webhook-timestamp is missing.',
    )
  }
  const candidates = value
    .split(' ')
    .filter((item) => item.startsWith('v1,'))
    .map((item) => item.slice(3))
  // A dot in the id could move the border between id, time and body, so that the signature would match another body.
  if (!isTime(time) || id.includes('.') || candidates.length === 0) {
    throw malformed(
      'webhook-signature',
      'v1,<base64>, with a webhook-id without a dot and a webhook-timestamp in seconds',
    )
  }
  return {
    header: 'webhook-signature',
    time,
    before: `${id}.${time}.`,
    candidates,
    decode: fromBase64,
    keyOf: keyInSecret,
  }
}

type Check = Signature & { readonly secrets: readonly string[]; readonly body: Uint8Array }

/** Compares in constant time: `crypto.subtle.verify` compares, and every candidate is tried with every secret. */
async function anyMatches({ secrets, candidates, before, body, decode, keyOf }: Check): Promise<boolean> {
  const text = new TextEncoder().encode(before)
  const message = new Uint8Array(text.length + body.length)
  message.set(text)
  message.set(body, text.length)
  const checks = secrets.map(async (secret) => {
    const key = await crypto.subtle.importKey('raw', keyOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ])
    return Promise.all(
      candidates.slice(0, SIGNATURES_MAX).map(async (candidate) => {
        const signature = decode(candidate)
        return signature !== undefined && crypto.subtle.verify('HMAC', key, signature, message)
      }),
    )
  })
  return (await Promise.all(checks)).flat().includes(true)
}

/** Runs after the signature check, so `stale_timestamp` proves that the secret is right. */
function checkTime(time: string, { now = Date.now(), toleranceSeconds = 300 }: SignedRequest): void {
  const age = Math.floor(now / 1_000) - Number(time)
  if (Math.abs(age) <= toleranceSeconds) return
  const where = age > 0 ? `${age} s old` : `${-age} s ahead`
  throw new SignatureError(
    'stale_timestamp',
    `The signature is correct but ${where}; at most ${toleranceSeconds} s is allowed. Check the clock of this machine.`,
  )
}

function eventIn(body: Uint8Array): DeliveredEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body))
    if (isEvent(event)) return event
  } catch {
    // The body is signed but is not JSON: the error below reports it.
  }
  throw new SignatureError(
    'invalid_body',
    'The signature is correct, but the body is not the JSON of a delivery: {"id","dataset","received_at"} with "data" or "url".',
  )
}

function isEvent(value: unknown): value is DeliveredEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('data' in value || ('url' in value && typeof value.url === 'string')) &&
    'id' in value &&
    typeof value.id === 'string' &&
    'dataset' in value &&
    typeof value.dataset === 'string' &&
    'received_at' in value &&
    typeof value.received_at === 'string'
  )
}

function headerIn(headers: SignedRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}

function malformed(header: string, form: string): SignatureError {
  return new SignatureError('bad_signature', `The header ${header} does not have the form ${form}.`)
}

function isTime(text: string): boolean {
  return /^\d{1,15}$/.test(text)
}

function bytesOf(body: SignedRequest['body']): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return body instanceof Uint8Array ? body : new Uint8Array(body)
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) return undefined
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

function keyInSecret(secret: string): Uint8Array<ArrayBuffer> {
  const key = fromBase64(secret.replace(/^whsec_/, ''))
  if (key === undefined || key.length === 0)
    throw new TypeError(
      'The signing secret must be whsec_ followed by base64. Copy the whole secret of the destination.',
    )
  return key
}
