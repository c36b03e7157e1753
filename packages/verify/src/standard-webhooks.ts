import { bytesOf, ed25519, isSigned } from '#crypto'
import { digest, unixSeconds } from './digest.ts'
import { joined } from './public-key.ts'
import { publicKeyIn } from './public-keys.ts'
import {
  malformed,
  missing,
  wholeOf,
  type Reading,
  type Recipe,
  type Signed,
  type SignatureFailure,
} from './reading.ts'

const HEADER_SETS = ['webhook', 'svix'] as const
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/
const FORM = 'v1,<base64>'
/** An HMAC (`v1`), or a signature by an ed25519 key (`v1a`). */
const WELL_FORMED = /^(?:v1,[A-Za-z0-9+/]{43}=|v1a,[A-Za-z0-9+/]{86}==)$/
const RECIPE: Recipe = {
  prefix: 'v1,',
  algorithm: 'sha256',
  encoding: 'base64',
  keyOf: standardKey,
  isSignedBy: (secret, { reading, body }) =>
    secret.startsWith(PUBLIC_PREFIX) ? isSignedWith(secret, { reading, body }) : undefined,
}
/** The prefixes of ed25519 keys: the secret one signs, and receivers have the public one. */
const PRIVATE_PREFIX = 'whsk_'
const PUBLIC_PREFIX = 'whpk_'
/** How many `v1a` of one request are checked: each takes as long as a hundred HMACs. */
const CHECKED_MAX = 4

const publicKey = (text: string) =>
  text.startsWith(PUBLIC_PREFIX) ? publicKeyIn(text.slice(PUBLIC_PREFIX.length), 'ed25519') : undefined

function isSignedWith(secret: string, { reading, body }: { reading: Reading; body: Uint8Array }): boolean {
  const key = publicKey(secret)
  if (key === undefined) return false
  const content = joined([reading.before, body])
  const given = new Set(reading.given.filter((item) => item.startsWith('v1a,') && WELL_FORMED.test(item)))
  return [...given]
    .slice(0, CHECKED_MAX)
    .some((item) => isSigned(key, { hash: 'sha256', content, signature: bytesOf(item.slice(4), 'base64') }))
}

/** The reason why no request could match this secret; undefined: it has the form that the scheme needs. */
export function validateStandardSecret(secret: string): string | undefined {
  if (secret.startsWith(PRIVATE_PREFIX))
    return 'whsk_ is the secret key of the sender, which only the sender needs. Copy the public key, which starts with whpk_.'
  if (!secret.startsWith(PUBLIC_PREFIX) || publicKey(secret) !== undefined) return undefined
  return 'A public key of standard_webhooks is whpk_ and the base64 of its 32 bytes. Copy the public key of the sender.'
}

type Sent = { readonly value: string | undefined; readonly id: string | undefined; readonly time: string | undefined }

/** `v1,<base64>` items over `<id>.<timestamp>.<body>`, in `webhook-*` headers or the older `svix-*`. */
export function readStandardWebhooks(headers: Signed['headers'], tolerance: number): Reading {
  return wholeOf(HEADER_SETS, (set) => readSet(set, { headers, tolerance }))
}

function readSet(
  set: (typeof HEADER_SETS)[number],
  { headers, tolerance }: { headers: Signed['headers']; tolerance: number },
): Reading {
  const value = headers[`${set}-signature`]
  const id = headers[`${set}-id`]
  const time = headers[`${set}-timestamp`]
  const timestamp = time === undefined ? undefined : unixSeconds(time)
  const given = value === undefined ? [] : itemsIn(value).filter((item) => /^v1a?,/.test(item))
  return {
    header: `${set}-signature`,
    form: FORM,
    value,
    given,
    before: `${id ?? ''}.${time ?? ''}.`,
    recipe: RECIPE,
    time: { header: `${set}-timestamp`, timestamp, tolerance },
    failure: absent(set, { value, id, time }) ?? misshapen(set, { given, id: id ?? '', timestamp }),
  }
}

/** To HTTP, two headers with one name are one list with a comma between them. */
const itemsIn = (value: string): readonly string[] =>
  value.split(' ').map((item) => (item.endsWith(',') ? item.slice(0, -1) : item))

function absent(set: string, { value, id, time }: Sent): SignatureFailure | undefined {
  if (value === undefined) return missing(`${set}-signature`)
  if (id === undefined) return missing(`${set}-id`)
  return time === undefined ? missing(`${set}-timestamp`) : undefined
}

function misshapen(
  set: string,
  { given, id, timestamp }: { given: readonly string[]; id: string; timestamp: number | undefined },
): SignatureFailure | undefined {
  if (!given.some((item) => WELL_FORMED.test(item))) return malformed(`${set}-signature`, FORM)
  // A dot in the id could move the border between id, time and body, and so sign another body.
  if (id.includes('.')) return malformed(`${set}-id`, '<id without a dot>')
  return timestamp === undefined ? malformed(`${set}-timestamp`, '<unix seconds>', 'timestamp') : undefined
}

/** The item of one secret: `v1,<base64>`, or `v1a,<base64>` of a `whsk_` key, whose first 32 bytes are the seed. */
export function standardSignature(
  secret: string,
  signed: { readonly id: string; readonly time: string; readonly body: Uint8Array | string },
): string {
  const before = `${signed.id}.${signed.time}.`
  if (secret.startsWith(PRIVATE_PREFIX)) {
    const seed = bytesOf(secret.slice(PRIVATE_PREFIX.length), 'base64').subarray(0, 32)
    return `v1a,${ed25519({ seed, content: joined([before, signed.body]) })}`
  }
  return `v1,${digest({ key: standardKey(secret), before, body: signed.body, encoding: 'base64' })}`
}

/** The bytes of `whsec_<base64>`. A secret in another form is its own UTF-8 bytes. */
function standardKey(secret: string): Uint8Array | string {
  const encoded = secret.startsWith('whsec_') ? secret.slice(6) : secret
  return BASE64.test(encoded) ? bytesOf(encoded, 'base64') : secret
}
