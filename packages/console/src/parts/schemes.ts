import type { VerificationScheme } from '@postroad/contract'

type Scheme = { readonly label: string; readonly text: string; readonly header: string; readonly hasTolerance: boolean }

/** The signature checks in words, the most common senders first. */
export const SCHEMES: Readonly<Record<VerificationScheme, Scheme>> = {
  none: {
    label: 'Open to anyone',
    text: 'Whoever knows the URL may send. The URL is the only secret.',
    header: '',
    hasTolerance: false,
  },
  payments_provider: {
    label: 'Payments (Stripe)',
    text: 't=…,v1=…: HMAC-SHA256 over the time and the body.',
    header: 'Stripe-Signature',
    hasTolerance: true,
  },
  code_host: {
    label: 'Code host (GitHub)',
    text: 'sha256=…: HMAC-SHA256 over the body.',
    header: 'X-Hub-Signature-256',
    hasTolerance: false,
  },
  commerce_platform: {
    label: 'Commerce (Shopify)',
    text: 'HMAC-SHA256 over the body, in base64.',
    header: 'X-Shopify-Hmac-Sha256',
    hasTolerance: false,
  },
  chat_platform: {
    label: 'Chat (Slack)',
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
}

export const SCHEME_NAMES: readonly VerificationScheme[] = [
  'none',
  'payments_provider',
  'code_host',
  'commerce_platform',
  'chat_platform',
  'standard_webhooks',
  'hmac',
]
