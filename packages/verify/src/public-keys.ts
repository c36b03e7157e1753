import { bytesOf, isUsable, textOf } from '#crypto'
import type { PublicKey } from './crypto.ts'
import {
  BIT_STRING,
  bitString,
  der,
  derInteger,
  derNull,
  integerIn,
  OBJECT_ID,
  readNode,
  readNodes,
  SEQUENCE,
} from './der.ts'
import { spkiOfCertificate } from './certificate.ts'

/**
 * The one reader of public keys, in each form in which providers hand them out: PEM of a key, of an RSA key (PKCS #1) or
 * of a certificate, the DER of these in base64, a JWK, and the bare bytes of an ed25519 key or of a point on P-256.
 */

export type KeyKind = PublicKey['kind']

const KEYS_MAX = 1_000
const keys = new Map<string, PublicKey | undefined>()

/** The public key of this kind in a text; undefined: there is none, or it is too weak. */
export function publicKeyIn(text: string, kind: KeyKind): PublicKey | undefined {
  const name = `${kind} ${text}`
  if (keys.has(name)) return keys.get(name)
  const spki = spkiIn(text.trim(), kind)
  const key = spki === undefined ? undefined : keyOf(spki)
  const found = key?.kind === kind && isStrong(key) && isUsable(key) ? key : undefined
  if (keys.size >= KEYS_MAX) keys.clear()
  keys.set(name, found)
  return found
}

const RSA_BITS = { min: 2_048, max: 8_192 } as const

export function isStrong({ kind, bits }: PublicKey): boolean {
  return kind !== 'rsa' || (bits >= RSA_BITS.min && bits <= RSA_BITS.max)
}

const IDS: Readonly<Record<KeyKind, Uint8Array>> = {
  ed25519: bytesOf('06032b6570', 'hex'),
  p256: bytesOf('06072a8648ce3d020106082a8648ce3d030107', 'hex'),
  rsa: der(SEQUENCE, bytesOf('06092a864886f70d010101', 'hex'), derNull).subarray(2),
}
const KINDS = ['ed25519', 'p256', 'rsa'] as const

const spkiOf = (kind: KeyKind, bytes: Uint8Array): Uint8Array =>
  der(SEQUENCE, der(SEQUENCE, IDS[kind]), bitString(bytes))

/** The key in a SubjectPublicKeyInfo, by the algorithm that it names. */
export function keyOf(spki: Uint8Array): PublicKey | undefined {
  const [algorithm, content] = readNodes(readNode(spki)?.bytes ?? new Uint8Array())
  if (algorithm?.tag !== SEQUENCE || content?.tag !== BIT_STRING) return undefined
  const named = textOf(algorithm.bytes, 'hex')
  const kind = KINDS.find((one) => textOf(IDS[one], 'hex') === named)
  if (kind === undefined) return undefined
  return { kind, spki, bits: kind === 'rsa' ? modulusBits(content.bytes.subarray(1)) : 256 }
}

function modulusBits(pkcs1: Uint8Array): number {
  const modulus = integerIn(readNodes(readNode(pkcs1)?.bytes ?? new Uint8Array())[0])
  return modulus === undefined ? 0 : modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24
}

const PEM = /-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const HEX = /^(?:[0-9a-fA-F]{2})+$/

function spkiIn(text: string, kind: KeyKind): Uint8Array | undefined {
  if (text.startsWith('{')) return spkiOfJwk(text)
  // Keys that were in an environment variable or in JSON have `\n` written out.
  const pem = PEM.exec(text.replaceAll('\\n', '\n').replaceAll('\\r', ''))
  if (pem !== null) return spkiOfDer(bytesOf((pem[2] ?? '').replaceAll(/\s/g, ''), 'base64'))
  const line = text.replaceAll(/\s/g, '')
  if (HEX.test(line)) return spkiOfBytes(bytesOf(line, 'hex'), kind)
  if (!BASE64.test(line)) return undefined
  const bytes = bytesOf(line, 'base64')
  // Some providers encode the whole PEM text once more.
  return textOf(bytes.subarray(0, 10), 'utf8') === '-----BEGIN'
    ? spkiIn(textOf(bytes, 'utf8'), kind)
    : spkiOfBytes(bytes, kind)
}

/** The bare key, without a structure around it, or a structure. */
function spkiOfBytes(bytes: Uint8Array, kind: KeyKind): Uint8Array | undefined {
  if (kind === 'ed25519' && bytes.length === 32) return spkiOf('ed25519', bytes)
  if (kind === 'p256' && bytes.length === 65 && bytes[0] === 4) return spkiOf('p256', bytes)
  return spkiOfDer(bytes)
}

/** A SubjectPublicKeyInfo, a key of PKCS #1 (two whole numbers), or a certificate. */
function spkiOfDer(bytes: Uint8Array): Uint8Array | undefined {
  const node = readNode(bytes)
  if (node?.tag !== SEQUENCE || node.whole.length !== bytes.length) return undefined
  const [first, second, third] = readNodes(node.bytes)
  if (integerIn(first) !== undefined && integerIn(second) !== undefined && third === undefined)
    return spkiOf('rsa', bytes)
  if (third !== undefined) return spkiOfCertificate(bytes)
  return readNode(first?.bytes ?? new Uint8Array())?.tag === OBJECT_ID ? bytes : undefined
}

/** A JSON Web Key (RFC 7517), or a set with one key. */
function spkiOfJwk(text: string): Uint8Array | undefined {
  try {
    const read: unknown = JSON.parse(text)
    const { keys: set } = membersOf(read)
    return Array.isArray(set) && set.length === 1
      ? spkiOfJwkMembers(membersOf(set[0]))
      : spkiOfJwkMembers(membersOf(read))
  } catch {
    return undefined
  }
}

type Members = Readonly<Record<string, unknown>>

export function membersOf(value: unknown): Members {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object has members of any type
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

export function spkiOfJwkMembers(jwk: Members): Uint8Array | undefined {
  const part = (name: string): Uint8Array | undefined => {
    const value = Object.hasOwn(jwk, name) ? jwk[name] : undefined
    return typeof value === 'string' && BASE64.test(value) ? bytesOf(value, 'base64') : undefined
  }
  const [x, y, n, e] = [part('x'), part('y'), part('n'), part('e')]
  const curve = typeof jwk['crv'] === 'string' ? jwk['crv'] : ''
  switch (jwk['kty']) {
    case 'OKP':
      return curve === 'Ed25519' && x?.length === 32 ? spkiOf('ed25519', x) : undefined
    case 'EC':
      return curve === 'P-256' ? ecKey(x, y) : undefined
    case 'RSA':
      return n === undefined || e === undefined ? undefined : spkiOf('rsa', der(SEQUENCE, derInteger(n), derInteger(e)))
    default:
      return undefined
  }
}

function ecKey(x: Uint8Array | undefined, y: Uint8Array | undefined): Uint8Array | undefined {
  return x?.length === 32 && y?.length === 32 ? spkiOf('p256', Uint8Array.from([4, ...x, ...y])) : undefined
}
