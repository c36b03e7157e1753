import type { VerificationSettings } from './settings.ts'
import { isKeyIn } from './custom-hmac.ts'
import { KINDS } from './public-key.ts'
import { publicKeyIn } from './public-keys.ts'
import { validateStandardSecret } from './standard-webhooks.ts'

const TOPIC = /^arn:aws(?:-[a-z-]+)?:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/

const KEY_FORMS: Readonly<Record<'ed25519' | 'ecdsa_sha256' | 'rsa_sha256', string>> = {
  ed25519: 'an ed25519 public key: PEM, a JWK, base64 of its DER, or its 32 bytes in hex or base64',
  ecdsa_sha256: 'an ECDSA public key on the curve P-256: PEM, a certificate, a JWK, or base64 of its DER',
  rsa_sha256: 'an RSA public key of at least 2,048 bits: PEM, a certificate, a JWK, or base64 of its DER',
}

/** The reason why no request could match this secret; undefined: it has the form that the scheme needs. */
export function validateSecretForm(settings: VerificationSettings, secret: string): string | undefined {
  const { scheme } = settings
  if (scheme === 'standard_webhooks') return validateStandardSecret(secret)
  if (scheme === 'custom_hmac') return validateKeyForm(settings.key_encoding, secret)
  if (scheme === 'public_key' && publicKeyIn(secret, KINDS[settings.algorithm]) === undefined)
    return `The secret of public_key is ${KEY_FORMS[settings.algorithm]}. Copy the public key of the sender.`
  // Another claim than the email address has any form.
  if (scheme === 'oidc_bearer' && settings.identity_claim !== 'email') return undefined
  return isOfText(scheme) ? validateText(scheme, secret) : undefined
}

/** The form of a secret that is a text of the provider, and the sentence that refuses another one. */
const TEXTS = {
  basic_auth: [/^[^:]+:/, 'The secret of basic_auth is a user name, a colon and a password.'],
  oidc_bearer: [
    /^[^\s@]+@[^\s@]+$/,
    'The secret of oidc_bearer is the claim email of the tokens: the email address of the account that sends.',
  ],
  aws_sns: [TOPIC, 'The secret of aws_sns is the ARN of the topic, such as arn:aws:sns:us-east-1:123456789012:orders.'],
  paypal: [
    /^[A-Za-z0-9]{1,50}$/,
    'The secret of paypal is the ID of the webhook, which PayPal shows beside its URL: up to 50 letters and digits.',
  ],
} as const

const isOfText = (scheme: VerificationSettings['scheme']): scheme is keyof typeof TEXTS => Object.hasOwn(TEXTS, scheme)

function validateText(scheme: keyof typeof TEXTS, secret: string): string | undefined {
  const [form, sentence] = TEXTS[scheme]
  return form.test(secret) ? undefined : sentence
}

function validateKeyForm(encoding: 'text' | 'base64' | 'hex', secret: string): string | undefined {
  return encoding === 'text' || isKeyIn(secret, encoding)
    ? undefined
    : `The key is set as ${encoding}, and this secret is not. Copy the whole secret of the sender.`
}
