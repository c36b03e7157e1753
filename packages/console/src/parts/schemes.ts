import type { VerificationScheme } from '@postroad/contract'

type Scheme = { readonly label: string; readonly text: string; readonly header: string; readonly hasTolerance: boolean }

/** The signature checks under the names of their senders, the most common first. */
export const SCHEMES: Readonly<Record<VerificationScheme, Scheme>> = {
  none: {
    label: 'Open to anyone',
    text: 'Anyone who knows the URL can send events. The URL is the only secret.',
    header: '',
    hasTolerance: false,
  },
  payments_provider: {
    label: 'Stripe',
    text: 't=…,v1=…: HMAC-SHA256 over the timestamp and the body.',
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
    text: 'v0=…: HMAC-SHA256 over the timestamp and the body.',
    header: 'X-Slack-Signature',
    hasTolerance: true,
  },
  standard_webhooks: {
    label: 'Standard Webhooks',
    text: 'The headers webhook-id, webhook-timestamp and webhook-signature. Svix and many other senders use them.',
    header: 'webhook-signature',
    hasTolerance: true,
  },
  hmac: {
    label: 'Generic HMAC',
    text: 'A digest of the body in a header that you choose.',
    header: '',
    hasTolerance: false,
  },
  custom_hmac: {
    label: 'Custom HMAC',
    text: 'An HMAC over content that you define, such as the timestamp and the body.',
    header: '',
    hasTolerance: false,
  },
  public_key: {
    label: 'Public key',
    text: 'A signature made with the sender’s private key: ed25519, ECDSA or RSA. The secret is the public key.',
    header: '',
    hasTolerance: false,
  },
  static_token: {
    label: 'Token in a header',
    text: 'The sender repeats the secret in a header. The token does not prove that the body is unchanged.',
    header: '',
    hasTolerance: false,
  },
  basic_auth: {
    label: 'Basic authentication',
    text: 'A username and a password. Enter the secret as user:password.',
    header: 'Authorization',
    hasTolerance: false,
  },
  jwt: {
    label: 'JSON Web Token',
    text: 'A token that is signed with the secret and contains the body hash.',
    header: '',
    hasTolerance: false,
  },
  oidc_bearer: {
    label: 'OpenID Connect token',
    text: 'A token that an issuer such as Google signed for this endpoint. The secret is the identity in the token.',
    header: '',
    hasTolerance: false,
  },
  aws_sns: {
    label: 'Amazon SNS',
    text: 'A message that is signed with an Amazon certificate. The secret is the topic ARN.',
    header: '',
    hasTolerance: false,
  },
  paypal: {
    label: 'PayPal',
    text: 'A signature made with a PayPal certificate. The secret is the webhook ID.',
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
  'oidc_bearer',
  'aws_sns',
  'paypal',
]
