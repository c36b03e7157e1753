import type { VerificationScheme } from '@postroad/contract'

type Scheme = { readonly label: string; readonly text: string; readonly header: string; readonly hasTolerance: boolean }

/** The signature checks under the names of their senders, the most common first. */
export const SCHEMES: Readonly<Record<VerificationScheme, Scheme>> = {
  none: {
    label: 'Open to anyone',
    text: 'Anyone who knows the URL may send. The URL is the only secret.',
    header: '',
    hasTolerance: false,
  },
  payments_provider: {
    label: 'Stripe',
    text: 't=…,v1=…: HMAC-SHA256 over the time and the body.',
    header: 'Stripe-Signature',
    hasTolerance: true,
  },
  code_host: {
    label: 'GitHub',
    text: 'sha256=…: HMAC-SHA256 over the body.',
    header: 'X-Hub-Signature-256',
    hasTolerance: false,
  },
  commerce_platform: {
    label: 'Shopify',
    text: 'HMAC-SHA256 over the body, in base64.',
    header: 'X-Shopify-Hmac-Sha256',
    hasTolerance: false,
  },
  chat_platform: {
    label: 'Slack',
    text: 'v0=…: HMAC-SHA256 over the time and the body.',
    header: 'X-Slack-Signature',
    hasTolerance: true,
  },
  standard_webhooks: {
    label: 'Standard Webhooks',
    text: 'webhook-id, webhook-timestamp and webhook-signature, as Svix and many others send them.',
    header: 'webhook-signature',
    hasTolerance: true,
  },
  hmac: { label: 'Any HMAC', text: 'A digest of the body in a header that you name.', header: '', hasTolerance: false },
  custom_hmac: {
    label: 'Custom HMAC',
    text: 'An HMAC over a content that you describe, such as the time and the body.',
    header: '',
    hasTolerance: false,
  },
  public_key: {
    label: 'Public key',
    text: 'A signature by the private key of the sender: ed25519, ECDSA or RSA. The secret is the public key.',
    header: '',
    hasTolerance: false,
  },
  static_token: {
    label: 'Token in a header',
    text: 'The sender repeats the secret in a header. Nothing proves that the body is the one that it sent.',
    header: '',
    hasTolerance: false,
  },
  basic_auth: {
    label: 'Basic authentication',
    text: 'A user name and a password. Write the secret as user:password.',
    header: 'Authorization',
    hasTolerance: false,
  },
  jwt: {
    label: 'JSON Web Token',
    text: 'A token that is signed with the secret and carries the hash of the body.',
    header: '',
    hasTolerance: false,
  },
  aws_sns: {
    label: 'Amazon SNS',
    text: 'A message that is signed with a certificate of Amazon. The secret is the ARN of the topic.',
    header: '',
    hasTolerance: false,
  },
  paypal: {
    label: 'PayPal',
    text: 'A signature by a certificate of PayPal. The secret is the ID of the webhook.',
    header: '',
    hasTolerance: false,
  },
}

export const SCHEME_NAMES: readonly VerificationScheme[] = [
  'none',
  'payments_provider',
  'code_host',
  'commerce_platform',
  'chat_platform',
  'standard_webhooks',
  'hmac',
  'custom_hmac',
  'public_key',
  'static_token',
  'basic_auth',
  'jwt',
  'aws_sns',
  'paypal',
]
