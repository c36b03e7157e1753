import { bytesOf } from '#crypto'
import { digest, unixSeconds } from './digest.ts'
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
const WELL_FORMED = /^v1,[A-Za-z0-9+/]{43}=$/
const RECIPE: Recipe = { prefix: 'v1,', algorithm: 'sha256', encoding: 'base64', keyOf: standardKey }

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
  const given = value === undefined ? [] : itemsIn(value).filter((item) => item.startsWith('v1,'))
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

/** `v1,<base64>` of one secret: the item that the sender writes and the receiver compares. */
export function standardSignature(
  secret: string,
  signed: { readonly id: string; readonly time: string; readonly body: Uint8Array | string },
): string {
  const before = `${signed.id}.${signed.time}.`
  return `v1,${digest({ key: standardKey(secret), before, body: signed.body, encoding: 'base64' })}`
}

/** The bytes of `whsec_<base64>`. A secret in another form is its own UTF-8 bytes. */
function standardKey(secret: string): Uint8Array | string {
  const encoded = secret.startsWith('whsec_') ? secret.slice(6) : secret
  return BASE64.test(encoded) ? bytesOf(encoded, 'base64') : secret
}
