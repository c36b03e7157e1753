/**
 * Public ids are TypeIDs: a prefix, `_`, and the Crockford base32 of a UUIDv7. The database stores the UUID. `encodeId` encodes ids in
 * responses, and `ids.ts` has the schemas of ids in requests.
 */
export const ID_PREFIXES = {
  user: 'usr',
  workspace: 'wsp',
  project: 'prj',
  webhook: 'whk',
  ingestKey: 'iky',
  dataset: 'dts',
  submission: 'sub',
  record: 'rec',
  recordView: 'vie',
  rule: 'rul',
  destination: 'dst',
  delivery: 'dlv',
  attempt: 'att',
  replay: 'rpl',
  transform: 'trf',
  rejection: 'rej',
  quarantinedRequest: 'qrq',
  apiKey: 'key',
  agentAccount: 'acc',
  connectedAgent: 'agt',
  dataKey: 'dky',
  audit: 'aud',
  deletion: 'del',
  session: 'ses',
  passkey: 'psk',
  invite: 'inv',
  mail: 'eml',
  dataExport: 'exp',
  ssoRequest: 'sreq',
  broadcast: 'bct',
  workflow: 'wfl',
  workflowInstance: 'wfi',
  aiProvider: 'aip',
  aiAgent: 'aia',
  aiTrigger: 'ait',
  aiRun: 'air',
  source: 'src',
  cronTrigger: 'crn',
  wsTrigger: 'wst',
  forwarder: 'fwd',
  alert: 'alr',
  portal: 'prt',
  customer: 'cus',
  portalToken: 'ptk',
} as const

export type IdKind = keyof typeof ID_PREFIXES

/** Secrets carry a prefix, so that a leaked one is recognized on sight. */
export const SECRET_PREFIXES = {
  ingestKey: 'ik_live_',
  apiKey: 'hk_',
  claimToken: 'hct_',
  dataKey: 'hdk_',
  portalToken: 'hpt_',
  signingSecret: 'whsec_',
} as const

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const VALUE_OF = new Map(Array.from(ALPHABET, (letter, value) => [letter, BigInt(value)]))
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** The contract fixes the form of these ids: 32 hexadecimal digits. */
export const HEX_KINDS: ReadonlySet<IdKind> = new Set(['ssoRequest'])
const HEX_SUFFIX = /^[0-9a-f]{32}$/

/** `encodeId('record', uuid)` → `rec_01j…`: 26 base32 digits of the 128 bits, most significant first. */
export function encodeId(kind: IdKind, uuid: string): string {
  let text = `${ID_PREFIXES[kind]}_`
  if (HEX_KINDS.has(kind)) return text + uuid.replaceAll('-', '')
  // 26 digits encode 130 bits: the first digit starts with two zero bits.
  let pending = 0
  let bits = 2
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index)
    if (code === DASH) continue
    pending = (pending << 4) | (code <= NINE ? code - ZERO : code - LETTER_A + 10)
    bits += 4
    if (bits >= 5) {
      bits -= 5
      text += ALPHABET.charAt(pending >> bits)
      pending &= (1 << bits) - 1
    }
  }
  return text
}

const DASH = 45
const ZERO = 48
const NINE = 57
const LETTER_A = 97

/** The UUID behind a public id, or undefined when the text is not an id of this kind. */
export function decodeId(kind: IdKind, text: string): string | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`
  const suffix = text.slice(prefix.length)
  if (!text.startsWith(prefix)) return undefined
  if (HEX_KINDS.has(kind)) return HEX_SUFFIX.test(suffix) ? uuidOf(suffix) : undefined
  if (!SUFFIX.test(suffix)) return undefined
  let bits = 0n
  for (const letter of suffix) bits = (bits << 5n) | (VALUE_OF.get(letter) ?? 0n)
  return uuidOf(bits.toString(16).padStart(32, '0'))
}

function uuidOf(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
