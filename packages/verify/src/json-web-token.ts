import { bytesOf, textOf } from '#crypto'

export type Token = {
  readonly head: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The text that is signed. */
  readonly signed: string
  readonly signature: string
}

/** The longest signature is that of an RSA key of 8,192 bits. */
const TOKEN = /^([A-Za-z0-9_-]{1,4096})\.([A-Za-z0-9_-]{1,16384})\.([A-Za-z0-9_-]{20,1366})$/

/** A JSON Web Token in its compact form (RFC 7515), before anything has checked it; undefined: the text is none. */
export function tokenIn(text: string): Token | undefined {
  const [, head = '', claims = '', signature = ''] = TOKEN.exec(text) ?? []
  if (signature === '') return undefined
  const [readHead, readClaims] = [objectIn(head), objectIn(claims)]
  return readHead === undefined || readClaims === undefined
    ? undefined
    : { head: readHead, claims: readClaims, signed: `${head}.${claims}`, signature }
}

/** A claim of a token, or a parameter of its head. A setting can name it, so `constructor` must not find an inherited property. */
export function claimIn(members: Token['claims'], name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

function objectIn(encoded: string): Token['head'] | undefined {
  try {
    const value: unknown = JSON.parse(textOf(bytesOf(encoded, 'base64'), 'utf8'))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object has members of any type
    return value as Token['head']
  } catch {
    return undefined
  }
}
