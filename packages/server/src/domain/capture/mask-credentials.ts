import { SECRET_PREFIXES } from '@postroad/contract/plain'
import { MASK } from '@postroad/contract/sent-again'

/** Credentials are parts of URLs, and URLs are copied: into Referer, into headers of proxies, into logs of senders. */
const { signingSecret, ...KEYS } = SECRET_PREFIXES
const PREFIXED = new RegExp(
  `\\b(?:(${signingSecret})[A-Za-z0-9+/=]{6,}|(${[...Object.values(KEYS), 'hdk_', 'hpt_', 'hct_'].join('|')})[A-Za-z0-9]{6,})`,
  'gi',
)
/** The last part of an endpoint's URL: 26 letters and digits with lower case and capitals, unlike ids. */
const URL_SLUG = /(?<=\/)(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z0-9]{26}(?!\w)/g
const IN_QUERY = /([?&;](?:key|token|hub\.verify_token)=)[^&#\s"',;]+/gi

/**
 * Returns the text without the credential of the request, in any case, and without any text that has the form of a credential.
 * A text that hides one behind percent escapes is returned decoded, any other text unchanged.
 */
export function maskCredentials(text: string, credential: string): string {
  const masked = masking(text, credential)
  if (!text.includes('%')) return masked
  const plain = decoded(masked)
  const inside = masking(plain, credential)
  return inside === plain ? masked : inside
}

/** Whether a text may contain a credential: URLs and paths, escapes, the credential itself, and prefixes of secrets. */
export function mayContainCredentials(text: string, credential: string): boolean {
  return (
    text.includes('%') ||
    text.includes('://') ||
    text.startsWith('/') ||
    text.includes('_') ||
    text.includes(credential)
  )
}

function masking(text: string, credential: string): string {
  const known = credential.length === 0 ? text : withoutKnown(text, credential)
  return known.replaceAll(PREFIXED, `$1$2${MASK}`).replaceAll(IN_QUERY, `$1${MASK}`).replaceAll(URL_SLUG, MASK)
}

/** Lower-casing ASCII moves no character, and a credential contains only ASCII. */
function withoutKnown(text: string, credential: string): string {
  const [low, wanted] = [asciiLower(text), asciiLower(credential)]
  let result = ''
  let from = 0
  for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, from)) {
    result += text.slice(from, at) + MASK
    from = at + wanted.length
  }
  return from === 0 ? text : result + text.slice(from)
}

function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Decodes escapes of ASCII, up to three levels of them. Other text stays unchanged. */
function decoded(text: string): string {
  let plain = text
  for (let times = 0; times < 3; times += 1) {
    const once = plain.replaceAll(/%([2-7][0-9a-f])/gi, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (once === plain) break
    plain = once
  }
  return plain
}
