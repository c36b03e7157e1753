import type { PublicKey } from './crypto.ts'
import { isStrong, keyOf, membersOf, spkiOfJwkMembers } from './public-keys.ts'

/** The algorithms of tokens that a key set verifies, and the kind of their keys. The token chooses none of them alone. */
const KINDS = { RS256: 'rsa', ES256: 'p256' } as const
export type TokenAlgorithm = keyof typeof KINDS

export function isTokenAlgorithm(name: unknown): name is TokenAlgorithm {
  return name === 'RS256' || name === 'ES256'
}

/** A key of a set (RFC 7517). `id` and `algorithm` are undefined where the set names none. */
type KeyInSet = { readonly id: unknown; readonly algorithm: unknown; readonly key: PublicKey }

const KEYS_MAX = 100
const SETS_MAX = 100
const sets = new Map<string, readonly KeyInSet[]>()

/** The keys of a set that verify signatures. An issuer has few sets, so each is read once. */
export function keysIn(text: string): readonly KeyInSet[] {
  const known = sets.get(text)
  if (known !== undefined) return known
  const read = readKeys(text)
  if (sets.size >= SETS_MAX) sets.clear()
  sets.set(text, read)
  return read
}

function readKeys(text: string): readonly KeyInSet[] {
  const { keys } = membersOf(parsed(text))
  if (!Array.isArray(keys)) return []
  return keys.slice(0, KEYS_MAX).flatMap((jwk: unknown) => {
    const members = membersOf(jwk)
    const { kid: id, alg: algorithm, use } = members
    const spki = use === undefined || use === 'sig' ? spkiOfJwkMembers(members) : undefined
    const key = spki === undefined ? undefined : keyOf(spki)
    return key !== undefined && isStrong(key) ? [{ id, algorithm, key }] : []
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The keys that may have signed a token: of the kind of its algorithm and with its key id. A token without a key id is only
 * clear where the set has one such key.
 */
export function keysFor(
  text: string,
  { algorithm, id }: { readonly algorithm: TokenAlgorithm; readonly id: unknown },
): readonly PublicKey[] {
  const fitting = keysIn(text).filter(
    (one) => one.key.kind === KINDS[algorithm] && (one.algorithm === undefined || one.algorithm === algorithm),
  )
  if (id === undefined) return fitting.length === 1 ? fitting.map(({ key }) => key) : []
  return fitting.filter((one) => one.id === id).map(({ key }) => key)
}

/** The URL of the keys in the discovery document of an issuer (OpenID Connect Discovery 1.0). */
export function keysUrlIn(text: string, issuer: string): string | undefined {
  const { issuer: own, jwks_uri: url } = membersOf(parsed(text))
  return own === issuer && typeof url === 'string' && isKeysUrl(url) ? url : undefined
}

function isKeysUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'https:' && url.username === '' && url.password === ''
}

/** Whether a text of an issuer is a key set or a discovery document. */
export function isIssuerText(text: string): boolean {
  if (keysIn(text).length > 0) return true
  const { issuer } = membersOf(parsed(text))
  return typeof issuer === 'string' && keysUrlIn(text, issuer) !== undefined
}
