import type { VerificationSettings } from '@postroad/contract'
import { readChatPlatform } from './chat-platform.ts'
import { readCodeHost } from './code-host.ts'
import { readCommercePlatform } from './commerce-platform.ts'
import { readHmac } from './hmac.ts'
import { readPaymentsProvider } from './payments-provider.ts'
import type { Reading, Signed, SignatureFailure } from './reading.ts'
import { readStandardWebhooks } from './standard-webhooks.ts'

/** The settings of an endpoint that verifies. */
export type SchemeSettings = Exclude<VerificationSettings, { scheme: 'none' }>

export const NO_SECRET: SignatureFailure = {
  reason: 'bad_signature',
  step: 'secret',
  detail: 'This endpoint has no secret yet. Set one in its verification settings.',
}

/** A secret of the endpoint, by its part in a rotation. `ended`: a previous one that no longer verifies. */
export type HeldSecret = { readonly name: 'current' | 'previous'; readonly value: string; readonly ended?: true }

/** A request that somebody wants explained. */
export type SampleToExplain = Omit<Signed, 'secrets'> & {
  readonly settings: SchemeSettings
  readonly secrets: readonly HeldSecret[]
}

/** What the headers of a request say, as the scheme of its endpoint reads them. */
export function readSignature(settings: SchemeSettings, headers: Signed['headers']): Reading {
  switch (settings.scheme) {
    case 'payments_provider':
      return readPaymentsProvider(headers, settings.tolerance_seconds)
    case 'code_host':
      return readCodeHost(headers)
    case 'commerce_platform':
      return readCommercePlatform(headers)
    case 'chat_platform':
      return readChatPlatform(headers, settings.tolerance_seconds)
    case 'standard_webhooks':
      return readStandardWebhooks(headers, settings.tolerance_seconds)
    case 'hmac':
      return readHmac(headers, settings)
  }
}

const SCHEME_HEADERS: readonly (readonly [name: string, scheme: string])[] = [
  ['Stripe-Signature', 'payments_provider'],
  ['Payment-Signature', 'payments_provider'],
  ['X-Hub-Signature-256', 'code_host'],
  ['X-Shopify-Hmac-Sha256', 'commerce_platform'],
  ['X-Slack-Signature', 'chat_platform'],
  ['webhook-signature', 'standard_webhooks'],
  ['svix-signature', 'standard_webhooks'],
  ['X-Signature', 'hmac'],
]

/** The headers of other schemes that a request carries. */
export function otherHeaderHints({
  headers,
  settings,
}: Pick<SampleToExplain, 'headers' | 'settings'>): readonly string[] {
  return SCHEME_HEADERS.filter(
    ([name, scheme]) => scheme !== settings.scheme && headers[name.toLowerCase()] !== undefined,
  ).map(
    ([name, scheme]) =>
      `The request carries ${name}, a header of the scheme ${scheme}; this endpoint is set to ${settings.scheme}.`,
  )
}
