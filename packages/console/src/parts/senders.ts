import type { RouteRequest, Routes, VerificationScheme } from '@postroad/contract'
import { createOf, OPEN, type VerificationDraft } from './verification-draft.ts'

type Create = RouteRequest<Routes['webhooks']['create']>

/** A sender that is known here: how it signs, how it proves whose the endpoint is, and by what its repeats are told. */
export type Sender = {
  readonly id: string
  readonly name: string
  /** What it signs with, in a few words. */
  readonly text: string
  /** Where its URL is entered and its secret is found. */
  readonly setup: string
  readonly verification: Partial<VerificationDraft>
  /** Its signature stands in headers that begin so; absent: as the scheme has it. */
  readonly headerPrefix?: string
  readonly idempotency: NonNullable<Create['idempotency']> | null
  /** Where it names its events; absent: where many senders do. */
  readonly title?: NonNullable<Create['event_title']>
  readonly handshake: 'none' | 'hub_challenge' | 'url_verification'
}

const NO_QUESTION = { handshake: 'none' } as const

/** Any sender first, then those that many people have; each line is from the sender's own documentation. */
export const SENDERS: readonly Sender[] = [
  {
    id: 'any',
    name: 'Any sender',
    text: 'Open to who knows the URL',
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
      'In the repository or organization, under Settings and Webhooks, add the URL with content type application/json and a secret of yours.',
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
      'The secret is the client secret of the app; for webhooks made in the admin it is under Settings and Notifications.',
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
      'In the app, set the URL under Event Subscriptions; the signing secret is under Basic Information. Its url_verification question is answered.',
    verification: { scheme: 'chat_platform' },
    idempotency: { path: 'event_id' },
    title: { path: 'event.type' },
    handshake: 'url_verification',
  },
  {
    id: 'meta',
    name: 'Meta (WhatsApp, Messenger)',
    text: 'X-Hub-Signature-256, hub.challenge',
    setup:
      'In the app, under Webhooks, enter the URL and a verify token of yours. The secret is the app secret, under Settings and Basic.',
    verification: { scheme: 'code_host' },
    idempotency: null,
    title: { path: 'entry.0.changes.0.field' },
    handshake: 'hub_challenge',
  },
  {
    id: 'standard',
    name: 'Standard Webhooks',
    text: 'webhook-signature',
    setup: 'The secret (whsec_…) is shown where the endpoint was added. Another Postroad signs like this too.',
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
    setup: 'Under Settings, API and Webhooks; the signing secret is on the page of the webhook.',
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
    setup: 'Add a generic V3 webhook under Integrations; its secret is shown once, when it is made.',
    verification: { scheme: 'hmac', header: 'X-PagerDuty-Signature', prefix: 'v1=' },
    idempotency: { path: 'event.id' },
    title: { path: 'event.event_type' },
    ...NO_QUESTION,
  },
  {
    id: 'typeform',
    name: 'Typeform',
    text: 'Typeform-Signature',
    setup: 'In the form, under Connect and Webhooks, add the URL and a secret of yours.',
    verification: { scheme: 'hmac', header: 'Typeform-Signature', encoding: 'base64', prefix: 'sha256=' },
    idempotency: { path: 'event_id' },
    title: { path: 'event_type' },
    ...NO_QUESTION,
  },
  {
    id: 'hmac',
    name: 'Any HMAC',
    text: 'a header that you name',
    setup:
      'For senders that sign the body with a secret that both know: as SHA-256 in hex, in the header X-Signature, unless something else is set.',
    verification: { scheme: 'hmac' },
    idempotency: null,
    ...NO_QUESTION,
  },
]

export type SignedScheme = Exclude<VerificationScheme, 'none'>
export type SignedSender = Sender & { readonly verification: { readonly scheme: SignedScheme } }

export function isSigned(sender: Sender): sender is SignedSender {
  return (sender.verification.scheme ?? 'none') !== 'none'
}

/** Those that sign, and send without asking first whose the endpoint is. */
export const SIGNED_SENDERS: readonly SignedSender[] = SENDERS.filter(isSigned).filter(
  ({ handshake }) => handshake !== 'hub_challenge',
)

/** `Svix` of `Svix (Clerk, Resend and others)`. */
export function shortNameOf({ name }: Sender): string {
  return name.split(' (')[0] ?? name
}

/** An endpoint that is being made. */
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

/** What is sent for a draft; repeats and the handshake are as the sender has them. */
export function createBodyOf(
  { idempotency, title, handshake }: Sender,
  { name, dataset, verification, verifyToken }: CreateDraft,
): Create {
  return {
    name: name.trim(),
    ...(dataset.trim() === '' ? {} : { dataset: dataset.trim() }),
    verification: createOf(verification),
    idempotency,
    event_title: title ?? null,
    handshake: handshake === 'hub_challenge' ? { kind: handshake, verify_token: verifyToken } : { kind: handshake },
  }
}
