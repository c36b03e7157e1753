import { bytesOf } from '#crypto'
import { ADDITIVE_DEFAULTS } from './described-content.ts'
import { TOLERANCE_SECONDS } from './limits.ts'
import type { VerificationScheme, VerificationSettings } from './settings.ts'

/** The settings of a scheme, where members with a default can be left out. */
export type Scheme<S extends VerificationSettings = VerificationSettings> = S extends VerificationSettings
  ? Partial<Omit<S, 'scheme'>> & { readonly scheme: S['scheme'] }
  : never

/** A preset: a provider, with the settings that verify its requests. */
export type Preset = {
  readonly id: string
  readonly name: string
  /** The page or the source file of the provider that the settings were read from. */
  readonly docs_url: string
  readonly signature_header: string
  /** The name of the secret at the provider. */
  readonly secret: string
  readonly setup: readonly string[]
  readonly settings: { readonly verification: VerificationSettings; readonly [other: string]: unknown }
}

export type RequestToVerify = {
  /** The preset of the provider, or a scheme with its settings. */
  readonly sender: Preset | Scheme
  /** The secret at the provider; during a rotation, all that are valid. */
  readonly secret: string | readonly string[]
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The bytes of the body, before anything parsed them. A text counts as UTF-8. */
  readonly body: string | Uint8Array | ArrayBuffer
  /** The URL as the provider calls it, for a sender that signs it. */
  readonly url?: string
  /** Milliseconds since 1970; for tests. */
  readonly now?: number
  /**
   * Fetches the certificate or the keys of a provider, for a sender that needs them. Cache the text by its URL. `isFresh`: the
   * cached text lacks a key; fetch again, but not for every request, because anyone can name a key.
   */
  readonly fetchText?: (url: string, options: { readonly isFresh: boolean }) => Promise<string>
}

const SIMPLE_DEFAULTS = {
  payments_provider: { tolerance_seconds: TOLERANCE_SECONDS },
  chat_platform: { tolerance_seconds: TOLERANCE_SECONDS },
  standard_webhooks: { tolerance_seconds: TOLERANCE_SECONDS },
  hmac: { header: 'X-Signature', algorithm: 'sha256', encoding: 'hex', prefix: '' },
} as const

const DEFAULTS: Partial<Readonly<Record<VerificationScheme, object>>> = { ...SIMPLE_DEFAULTS, ...ADDITIVE_DEFAULTS }

/** The settings of a sender with all their members. The same sender has the same object. */
export function settingsOf(sender: Preset | Scheme): VerificationSettings {
  if (!('scheme' in sender)) return sender.settings.verification
  const known = completed.get(sender)
  if (known !== undefined) return known
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the defaults have every member of the scheme
  const settings = { ...DEFAULTS[sender.scheme], ...sender } as VerificationSettings
  completed.set(sender, settings)
  return settings
}

const completed = new WeakMap<object, VerificationSettings>()

export type Received = {
  readonly secrets: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  readonly nowSeconds: number
  readonly url: string | undefined
}

/** The request as the schemes read it. */
// oxlint-disable-next-line house/no-ambient -- as for its ids
export function receivedOf({ secret, headers, body, url, now = Date.now() }: RequestToVerify): Received {
  const secrets = typeof secret === 'string' ? [secret] : [...secret]
  if (secrets.includes('')) throw new TypeError('The secret is empty. Read it from your configuration.')
  return { secrets, headers: headersOf(headers), body: bodyOf(body), nowSeconds: Math.floor(now / 1_000), url }
}

function headersOf(headers: RequestToVerify['headers']): Received['headers'] {
  if (headers instanceof Headers) return Object.fromEntries(headers)
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' || value === undefined ? value : value.join(', '),
    ]),
  )
}

function bodyOf(body: RequestToVerify['body']): Uint8Array {
  if (typeof body === 'string') return bytesOf(body, 'utf8')
  return body instanceof Uint8Array ? body : new Uint8Array(body)
}
