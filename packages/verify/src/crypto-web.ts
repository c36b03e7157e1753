import {
  ED25519_PKCS8,
  type DigestEncoding,
  type Hashed,
  type HmacAlgorithm,
  type HmacOptions,
  type PublicKey,
  type SignedBytes,
  type ToSign,
} from './crypto.ts'

/**
 * The same functions as `crypto-node.ts` on Web Crypto, which answers later. A decision runs again from its start with the
 * answers that it has, until it asks for no new one. An answer belongs to its question, with all inputs, and not to a
 * place in the order: what the decision remembers between its runs changes which questions it asks.
 */

type Answers = Map<string, unknown>
type Input = string | Uint8Array

/** The answers for the decision that runs now. Decisions do not wait inside, so there is one at a time. */
let running: Answers | undefined

/** Thrown where a decision needs an answer that is not there yet. */
class Question extends Error {
  readonly asked: string
  readonly answer: Promise<unknown>
  constructor(asked: string, answer: Promise<unknown>) {
    super('This function runs inside whenAnswered.')
    this.asked = asked
    this.answer = answer
  }
}

function answered<T>(inputs: readonly Input[], ask: () => Promise<T>): T {
  const asked = inputs.map(nameOf).join(' ')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same question got this answer
  if (running?.has(asked) === true) return running.get(asked) as T
  throw new Question(asked, ask())
}

/** Two inputs with one name are equal. */
function nameOf(input: Input): string {
  const text = typeof input === 'string' ? input : new TextDecoder('latin1').decode(input)
  return `${typeof input === 'string' ? 'text' : 'bytes'} ${text.length} ${text}`
}

/** Runs a decision that uses these functions, again for each answer. */
export async function whenAnswered<T>(decide: () => T): Promise<T> {
  const answers: Answers = new Map()
  for (;;) {
    const made = attempt(decide, answers)
    if (!(made instanceof Question)) return made
    // oxlint-disable-next-line no-await-in-loop -- the next question depends on this answer
    answers.set(made.asked, await made.answer)
  }
}

function attempt<T>(decide: () => T, answers: Answers): T | Question {
  running = answers
  try {
    return decide()
  } catch (thrown) {
    if (thrown instanceof Question) return thrown
    throw thrown
  } finally {
    running = undefined
  }
}

const HASHES = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' } as const
type Bytes = Uint8Array<ArrayBuffer>
/** `CryptoKey`, which not every platform names. */
type Imported = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
const own = (content: string | Uint8Array): Bytes =>
  typeof content === 'string' ? utf8(content) : new Uint8Array(content)

function joined(pieces: readonly (string | Uint8Array)[]): Bytes {
  const all = pieces.map(own)
  const whole = new Uint8Array(all.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of all) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

export function hmac({ algorithm, key, pieces, encoding }: HmacOptions): string {
  return answered(['hmac', algorithm, encoding, key, ...pieces], () =>
    hmacOf({ algorithm, key: own(key), content: joined(pieces), encoding }),
  )
}

async function hmacOf(of: {
  readonly algorithm: HmacAlgorithm
  readonly key: Bytes
  readonly content: Bytes
  readonly encoding: DigestEncoding
}): Promise<string> {
  const { subtle } = globalThis.crypto
  const made = { name: 'HMAC', hash: HASHES[of.algorithm] }
  // Web Crypto refuses an empty key. A block of zeros is the same key.
  const bytes = of.key.length === 0 ? new Uint8Array(64) : of.key
  const key = await subtle.importKey('raw', bytes, made, false, ['sign'])
  return textOf(new Uint8Array(await subtle.sign('HMAC', key, of.content)), of.encoding)
}

export function sha256({ content, encoding }: Hashed): string {
  return answered(['sha256', encoding, content], async () =>
    textOf(new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', own(content))), encoding),
  )
}

/** Compares in constant time. */
export function isEqual(given: string, expected: string): boolean {
  const [one, other] = [utf8(given), utf8(expected)]
  if (one.length !== other.length) return false
  let difference = 0
  for (const [at, byte] of one.entries()) difference |= byte ^ (other[at] ?? 0)
  return difference === 0
}

export function isUsable(key: PublicKey): boolean {
  return answered(['isUsable', key.kind, key.spki], async () => (await imported(key, 'sha256')) !== null)
}

export function isSigned(key: PublicKey, signed: SignedBytes): boolean {
  const { hash, content, signature } = signed
  return answered(['isSigned', key.kind, key.spki, hash, content, signature], () => isSignedBy(key, signed))
}

async function isSignedBy(key: PublicKey, { hash, content, signature }: SignedBytes): Promise<boolean> {
  const read = await imported(key, hash)
  if (read === null) return false
  const made = key.kind === 'p256' ? { name: 'ECDSA', hash: HASHES[hash] } : read.algorithm
  return globalThis.crypto.subtle.verify(made, read, own(signature), own(content))
}

async function imported({ kind, spki }: PublicKey, hash: SignedBytes['hash']): Promise<Imported | null> {
  const made = {
    ed25519: { name: 'Ed25519' },
    p256: { name: 'ECDSA', namedCurve: 'P-256' },
    rsa: { name: 'RSASSA-PKCS1-v1_5', hash: HASHES[hash] },
  }[kind]
  try {
    return await globalThis.crypto.subtle.importKey('spki', own(spki), made, false, ['verify'])
  } catch {
    return null
  }
}

/** The ed25519 signature of the content, in base64. */
export function ed25519({ seed, content }: ToSign): string {
  return answered(['ed25519', seed, content], async () => {
    const { subtle } = globalThis.crypto
    const pkcs8 = joined([bytesOf(ED25519_PKCS8, 'hex'), seed])
    const key = await subtle.importKey('pkcs8', pkcs8, { name: 'Ed25519' }, false, ['sign'])
    return textOf(new Uint8Array(await subtle.sign('Ed25519', key, own(content))), 'base64')
  })
}

/** The bytes behind a text. base64 has both alphabets, with padding or without. */
export function bytesOf(text: string, encoding: 'utf8' | 'hex' | 'base64'): Uint8Array {
  if (encoding === 'utf8') return utf8(text)
  if (encoding === 'hex') return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const binary = globalThis.atob(text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
}

export function textOf(bytes: Uint8Array, encoding: 'utf8' | 'hex' | 'base64' | 'base64url'): string {
  if (encoding === 'utf8') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const base64 = globalThis.btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return encoding === 'base64' ? base64 : base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
