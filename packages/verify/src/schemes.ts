import { readAwsSns } from './aws-sns.ts'
import { readBasicAuth } from './basic-auth.ts'
import { readChatPlatform } from './chat-platform.ts'
import { readCodeHost } from './code-host.ts'
import { readCommercePlatform } from './commerce-platform.ts'
import { readCustomHmac } from './custom-hmac.ts'
import { readHmac } from './hmac.ts'
import { readJwt } from './jwt.ts'
import { readOidcBearer } from './oidc-bearer.ts'
import { readPaymentsProvider } from './payments-provider.ts'
import { readPayPal } from './paypal.ts'
import { readPublicKey } from './public-key.ts'
import type { Reading, Signed, SignatureFailure } from './reading.ts'
import { readStandardWebhooks } from './standard-webhooks.ts'
import type { VerificationSettings } from './settings.ts'
import { readStaticToken } from './static-token.ts'

/** The settings of an endpoint that verifies signatures. */
export type SchemeSettings = Exclude<VerificationSettings, { scheme: 'none' }>

export const NO_SECRET: SignatureFailure = {
  reason: 'bad_signature',
  step: 'secret',
  detail: 'This endpoint has no secret yet. Set one in its verification settings.',
}

/** A secret of the endpoint, by its part in a rotation. `ended`: a previous one that no longer verifies. */
export type HeldSecret = { readonly name: 'current' | 'previous'; readonly value: string; readonly ended?: true }

/** A request whose check a person wants explained. */
export type SampleToExplain = Omit<Signed, 'secrets'> & {
  readonly settings: SchemeSettings
  readonly secrets: readonly HeldSecret[]
}

type Beside = Partial<Pick<Signed, 'url' | 'fetched' | 'body'>>

/** Reads the headers of a request with the scheme of its endpoint. */
export function readSignature(settings: SchemeSettings, headers: Signed['headers'], beside: Beside = {}): Reading {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the next function lists the others
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
    default:
      return readAdditive(settings, { headers, ...beside })
  }
}

type Additive = Exclude<
  SchemeSettings,
  { scheme: 'payments_provider' | 'code_host' | 'commerce_platform' | 'chat_platform' | 'standard_webhooks' | 'hmac' }
>

function readAdditive(settings: Additive, request: Pick<Signed, 'headers'> & Beside): Reading {
  const { headers, fetched } = request
  switch (settings.scheme) {
    case 'custom_hmac':
      return readCustomHmac(request, settings)
    case 'public_key':
      return readPublicKey(request, settings)
    case 'static_token':
      return readStaticToken(headers, settings)
    case 'basic_auth':
      return readBasicAuth(headers)
    case 'jwt':
      return readJwt(headers, settings)
    case 'oidc_bearer':
      return readOidcBearer(request, settings)
    case 'aws_sns':
      return readAwsSns(headers, fetched?.text)
    case 'paypal':
      return readPayPal(headers, fetched?.text)
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

/** Hints about headers of other schemes in a request. */
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
