import type { SignedSender } from './senders.ts'
import type { VerificationDraft } from './verification-draft.ts'

type ToSign = { readonly secret: string; readonly body: string; readonly sender: SignedSender }
type Settings = Pick<VerificationDraft, 'header' | 'algorithm' | 'encoding' | 'prefix'>

/** Browsers sign only on https and on localhost. */
export function canSign(): boolean {
  return isSecureContext
}

/** The headers that a sender of this scheme would send with a body now. The secret stays in the page. */
export async function signatureHeaders(
  { secret, body, sender }: ToSign,
  settings: Settings,
): Promise<Readonly<Record<string, string>>> {
  const time = String(Math.floor(Date.now() / 1_000))
  const digest = (before: string): Promise<Uint8Array> => hmac(text(secret), text(before + body), 'sha256')
  switch (sender.verification.scheme) {
    case 'payments_provider':
      return { 'Stripe-Signature': `t=${time},v1=${hex(await digest(`${time}.`))}` }
    case 'code_host':
      return { 'X-Hub-Signature-256': `sha256=${hex(await digest(''))}` }
    case 'commerce_platform':
      return { 'X-Shopify-Hmac-Sha256': base64(await digest('')) }
    case 'chat_platform':
      return {
        'X-Slack-Request-Timestamp': time,
        'X-Slack-Signature': `v0=${hex(await digest(`v0:${time}:`))}`,
      }
    case 'standard_webhooks': {
      const { headerPrefix: prefix = 'webhook' } = sender
      const id = `msg_${crypto.randomUUID()}`
      const signed = await hmac(keyIn(secret), text(`${id}.${time}.${body}`), 'sha256')
      return {
        [`${prefix}-id`]: id,
        [`${prefix}-timestamp`]: time,
        [`${prefix}-signature`]: `v1,${base64(signed)}`,
      }
    }
    case 'hmac': {
      const { header, algorithm, encoding, prefix } = settings
      const signed = await hmac(text(secret), text(body), algorithm)
      return { [header]: prefix + (encoding === 'base64' ? base64(signed) : hex(signed)) }
    }
  }
}

type Bytes = Uint8Array<ArrayBuffer>

// oxlint-disable-next-line max-params -- a key, what it signs, and how
async function hmac(key: Bytes, message: Bytes, algorithm: 'sha256' | 'sha1'): Promise<Uint8Array> {
  const hash = algorithm === 'sha1' ? 'SHA-1' : 'SHA-256'
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message))
}

/** The bytes behind `whsec_<base64>`; a secret in no such form is its own bytes. */
function keyIn(secret: string): Bytes {
  try {
    return Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0))
  } catch {
    return text(secret)
  }
}

function text(value: string): Bytes {
  return new TextEncoder().encode(value)
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCodePoint(...bytes))
}
