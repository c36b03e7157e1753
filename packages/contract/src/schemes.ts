/** The additive schemes, for providers that none of the first seven schemes describes. */
export const ADDITIVE_SCHEMES = [
  'custom_hmac',
  'public_key',
  'static_token',
  'basic_auth',
  'jwt',
  'oidc_bearer',
  'aws_sns',
  'paypal',
] as const
export type AdditiveScheme = (typeof ADDITIVE_SCHEMES)[number]

/** The signature schemes by name. Their schemas are in verification.ts, so the command line can read these names without loading zod. */
export const VERIFICATION_SCHEMES = [
  'none',
  'payments_provider',
  'code_host',
  'commerce_platform',
  'chat_platform',
  'standard_webhooks',
  'hmac',
  ...ADDITIVE_SCHEMES,
] as const
export type VerificationScheme = (typeof VERIFICATION_SCHEMES)[number]

/** The ways to verify an event: by the scheme of its endpoint, or by the signature that its ingest key requires. */
export const VERIFIED_SCHEMES = [...VERIFICATION_SCHEMES, 'service_signature'] as const
export type VerifiedScheme = (typeof VERIFIED_SCHEMES)[number]

/** The names of the schemes in texts. The values above are wire names and stay. */
export const SCHEME_NAMES: Readonly<Record<VerificationScheme, string>> = {
  none: 'none',
  payments_provider: 'Stripe',
  code_host: 'GitHub',
  commerce_platform: 'Shopify',
  chat_platform: 'Slack',
  standard_webhooks: 'Standard Webhooks',
  hmac: 'HMAC',
  custom_hmac: 'custom HMAC',
  public_key: 'public key',
  static_token: 'token',
  basic_auth: 'basic authentication',
  jwt: 'JWT',
  oidc_bearer: 'OpenID Connect token',
  aws_sns: 'Amazon SNS',
  paypal: 'PayPal',
}

const PRODUCTS = ['payments_provider', 'code_host', 'commerce_platform', 'chat_platform'] as const

/** The wire name of a scheme, with its product if it has one: `code_host (GitHub)`. */
export const schemeText = (scheme: VerificationScheme): string =>
  PRODUCTS.some((product) => product === scheme) ? `${scheme} (${SCHEME_NAMES[scheme]})` : scheme

/** The schemes whose signatures use a certificate that the server fetches from the provider. */
export const CERTIFICATE_SCHEMES = ['aws_sns', 'paypal'] as const

/** `payments_provider is Stripe, code_host is GitHub, …`, for descriptions. */
export const PRODUCTS_TEXT = PRODUCTS.map((scheme) => `${scheme} is ${SCHEME_NAMES[scheme]}`).join(', ')
