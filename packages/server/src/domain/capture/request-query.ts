import { MASK } from '@postroad/contract/sent-again'
import { isCredentialName } from './credential-name.ts'
import { maskCredentials } from './mask-credentials.ts'

/** The query string of a target, with credentials masked like those of headers; null: it has none. */
export function storedQuery(target: string, credential: string): string | null {
  const mark = target.indexOf('?')
  if (mark < 0 || mark === target.length - 1) return null
  const query = target.slice(mark + 1)
  const pairs = query.split('&')
  // Few query strings have a credential, and a part has none that the whole does not have.
  if (!pairs.some(isNamedCredential) && !hasCredential(query, credential)) return query
  return pairs.map((pair) => maskedPair(pair, credential)).join('&')
}

/** The value is masked as a whole, because the part beside a credential can have an escaped `&`. */
function maskedPair(pair: string, credential: string): string {
  if (!isNamedCredential(pair) && !hasCredential(pair, credential)) return pair
  const name = nameOf(pair)
  return pair.length > name.length && !hasCredential(name, credential) ? `${name}=${MASK}` : MASK
}

function nameOf(pair: string): string {
  const end = pair.indexOf('=')
  return end < 0 ? pair : pair.slice(0, end)
}

const NAMES_KEPT_MAX = 1_000
/** V8 copies a part of a text that is shorter than 13 characters; a longer one would retain the whole text. */
const NAME_CHARS_KEPT_MAX = 12
const known = new Map<string, boolean>()

/** The same few names recur, so each is read once. */
function isNamedCredential(pair: string): boolean {
  const name = nameOf(pair)
  if (name.length === pair.length) return false
  const before = known.get(name)
  if (before !== undefined) return before
  const found = isCredentialName(wordsOf(name))
  if (known.size < NAMES_KEPT_MAX && name.length <= NAME_CHARS_KEPT_MAX) known.set(name, found)
  return found
}

/** The pattern of credentials in a query begins at its mark. */
const hasCredential = (text: string, credential: string): boolean =>
  maskCredentials(`?${text}`, credential) !== `?${text}`

/** `apiKey`, `api_key` and `api.key` as `api-key`. */
function wordsOf(name: string): string {
  return plain(name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()
}

function plain(name: string): string {
  const [decoded = name] = new URLSearchParams(name).keys()
  return decoded
}
