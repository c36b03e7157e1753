import type { AdditiveScheme, HandshakeSettings, RouteRequest, Routes, VerificationScheme } from '@postroad/contract'
import { verifyTokenNeed } from '@postroad/contract/handshake'
import { isAdditive } from './additive-schemes.ts'
import { createOf, OPEN, type VerificationDraft } from './verification-draft.ts'

type Create = RouteRequest<Routes['webhooks']['create']>

/** A known sender: its signature, its handshake, and the field that identifies its repeats. */
export type Sender = {
  readonly id: string
  readonly name: string
  /** Its signature, in a few words. */
  readonly text: string
  /** Where to enter the URL and find the secret. */
  readonly setup: string
  readonly verification: Partial<VerificationDraft>
  /** The prefix of its signature headers; absent: that of the scheme. */
  readonly headerPrefix?: string
  readonly idempotency: NonNullable<Create['idempotency']> | null
  /** Where it names its events; absent: in the fields that many senders use. */
  readonly title?: NonNullable<Create['event_title']>
  readonly handshake: HandshakeSettings
  /** The response that it requires; absent: any 2xx. */
  readonly response?: NonNullable<Create['response']>
  /** How its bodies are read; absent: by their content type. */
  readonly bodyAs?: NonNullable<Create['body_as']>
  /** The list of its events in a body; absent: a body is one event. */
  readonly split?: NonNullable<Create['split']>
  /** The same as `setup`, step by step; absent: one step. */
  readonly steps?: readonly string[]
  readonly docsUrl?: string
  /** The sender's name for the secret. */
  readonly secretName?: string
}

const NO_QUESTION = { handshake: { kind: 'none' } } as const

/** Any sender first, then the most common ones; each line follows the sender's own documentation. */
export const SENDERS: readonly Sender[] = [
  {
    id: 'any',
    name: 'Any sender',
    text: 'No signature check',
    setup: '',
    verification: {},
    idempotency: null,
    ...NO_QUESTION,
  },
  {
    id: 'stripe',
    name: 'Stripe',
    text: 'Stripe-Signature',
    setup: 'In Workbench, under Webhooks, add the URL as an event destination and copy its signing secret (whsec_…).',
    verification: { scheme: 'payments_provider' },
    idempotency: { path: 'id' },
    title: { path: 'type' },
    ...NO_QUESTION,
  },
  {
    id: 'github',
    name: 'GitHub',
    text: 'X-Hub-Signature-256',
    setup:
      'In the repository or organization, under Settings and Webhooks, add the URL with content type application/json and choose a secret.',
    verification: { scheme: 'code_host' },
    idempotency: { header: 'X-GitHub-Delivery' },
    title: { header: 'X-GitHub-Event' },
    ...NO_QUESTION,
  },
  {
    id: 'shopify',
    name: 'Shopify',
    text: 'X-Shopify-Hmac-Sha256',
    setup:
      'The secret is the client secret of the app. For webhooks created in the admin, it is under Settings and Notifications.',
    verification: { scheme: 'commerce_platform' },
    idempotency: { header: 'X-Shopify-Webhook-Id' },
    title: { header: 'X-Shopify-Topic' },
    ...NO_QUESTION,
  },
  {
    id: 'slack',
    name: 'Slack',
    text: 'X-Slack-Signature',
    setup:
      'In the app, set the URL under Event Subscriptions; the signing secret is under Basic Information. Postroad answers its url_verification request.',
    verification: { scheme: 'chat_platform' },
    idempotency: { path: 'event_id' },
    title: { path: 'event.type' },
    handshake: { kind: 'url_verification' },
  },
  {
    id: 'meta',
    name: 'Meta (WhatsApp, Messenger)',
    text: 'X-Hub-Signature-256, hub.challenge',
    setup:
      'In the app, under Webhooks, enter the URL and a verify token that you choose. The secret is the app secret, under Settings and Basic.',
    verification: { scheme: 'code_host' },
    idempotency: null,
    title: { path: 'entry.0.changes.0.field' },
    handshake: { kind: 'hub_challenge' },
    response: { status: 200, content_type: null, body: '' },
  },
  {
    id: 'standard',
    name: 'Standard Webhooks',
    text: 'webhook-signature',
    setup:
      'The sender shows the secret (whsec_…) where you added the endpoint. Another Postroad server also signs this way.',
    verification: { scheme: 'standard_webhooks' },
    idempotency: { header: 'webhook-id' },
    title: { path: 'type' },
    ...NO_QUESTION,
  },
  {
    id: 'svix',
    name: 'Svix (Clerk, Resend and others)',
    text: 'svix-signature',
    setup: 'The signing secret (whsec_…) is beside the endpoint in the sender’s webhook settings.',
    verification: { scheme: 'standard_webhooks' },
    headerPrefix: 'svix',
    idempotency: { header: 'svix-id' },
    title: { path: 'type' },
    ...NO_QUESTION,
  },
  {
    id: 'linear',
    name: 'Linear',
    text: 'Linear-Signature',
    setup: 'Add the webhook under Settings, API and Webhooks. Its page shows the signing secret.',
    verification: { scheme: 'hmac', header: 'Linear-Signature' },
    idempotency: { header: 'Linear-Delivery' },
    title: { header: 'Linear-Event' },
    ...NO_QUESTION,
  },
  {
    id: 'sentry',
    name: 'Sentry',
    text: 'Sentry-Hook-Signature',
    setup: 'The secret is the client secret of the internal or public integration.',
    verification: { scheme: 'hmac', header: 'Sentry-Hook-Signature' },
    idempotency: null,
    title: { header: 'Sentry-Hook-Resource' },
    ...NO_QUESTION,
  },
  {
    id: 'pagerduty',
    name: 'PagerDuty',
    text: 'X-PagerDuty-Signature',
    setup: 'Add a generic V3 webhook under Integrations. PagerDuty shows the secret once, when you create the webhook.',
    verification: { scheme: 'hmac', header: 'X-PagerDuty-Signature', prefix: 'v1=' },
    idempotency: { path: 'event.id' },
    title: { path: 'event.event_type' },
    ...NO_QUESTION,
  },
  {
    id: 'typeform',
    name: 'Typeform',
    text: 'Typeform-Signature',
    setup: 'In the form, under Connect and Webhooks, add the URL and choose a secret.',
    verification: { scheme: 'hmac', header: 'Typeform-Signature', encoding: 'base64', prefix: 'sha256=' },
    idempotency: { path: 'event_id' },
    title: { path: 'event_type' },
    ...NO_QUESTION,
  },
  {
    id: 'hmac',
    name: 'Generic HMAC',
    text: 'a header that you choose',
    setup:
      'For senders that sign the body with a shared secret. The default is SHA-256 in hex, in the header X-Signature.',
    verification: { scheme: 'hmac' },
    idempotency: null,
    ...NO_QUESTION,
  },
]

/** The schemes that a command line can sign with openssl. */
export type SignedScheme = Exclude<VerificationScheme, 'none' | AdditiveScheme>
/** A sender whose requests are checked by any scheme. */
export type CheckedSender = Sender & { readonly verification: { readonly scheme: Exclude<VerificationScheme, 'none'> } }
export type SignedSender = Sender & { readonly verification: { readonly scheme: SignedScheme } }

export function isChecked(sender: Sender): sender is CheckedSender {
  return (sender.verification.scheme ?? 'none') !== 'none'
}

export function isSigned(sender: Sender): sender is SignedSender {
  return isChecked(sender) && !isAdditive(sender.verification.scheme)
}

/** The senders that sign and send without a handshake. */
export const SIGNED_SENDERS: readonly SignedSender[] = SENDERS.filter(isSigned).filter(
  ({ handshake }) => verifyTokenNeed(handshake) !== 'required',
)

/** `Svix` of `Svix (Clerk, Resend and others)`, and `Lark` of `Lark, Feishu`. */
export function shortNameOf({ name }: Sender): string {
  return name.split(/, | \(/)[0] ?? name
}

/** The draft of an endpoint. */
export type CreateDraft = {
  readonly name: string
  readonly dataset: string
  readonly verification: VerificationDraft
  readonly verifyToken: string
}

export function createDraftOf(sender: Sender): CreateDraft {
  const { id, verification } = sender
  return {
    name: id === 'any' || id === 'hmac' ? '' : shortNameOf(sender),
    dataset: '',
    verification: { ...OPEN, ...verification },
    verifyToken: '',
  }
}

/** The request body of a draft. The sender decides about repeats and the handshake. */
export function createBodyOf(
  { idempotency, title, handshake, response, bodyAs, split }: Sender,
  { name, dataset, verification, verifyToken }: CreateDraft,
): Create {
  return {
    name: name.trim(),
    ...(dataset.trim() === '' ? {} : { dataset: dataset.trim() }),
    verification: createOf(verification),
    idempotency,
    event_title: title ?? null,
    ...(response === undefined ? {} : { response }),
    ...(bodyAs === undefined ? {} : { body_as: bodyAs }),
    ...(split === undefined ? {} : { split }),
    handshake: withToken(handshake, verifyToken),
  }
}

/** A handshake with its token, if it needs one. */
function withToken(handshake: HandshakeSettings, verifyToken: string): NonNullable<Create['handshake']> {
  if (handshake.kind === 'hub_challenge') return { ...handshake, verify_token: verifyToken }
  return verifyTokenNeed(handshake) === 'required' && handshake.kind === 'custom'
    ? { ...handshake, verify_token: verifyToken }
    : handshake
}
