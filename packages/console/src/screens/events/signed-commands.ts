import type { VerificationScheme } from '@postroad/contract'
import { SAMPLE_TEXT } from './sample.ts'

export type Signed = Exclude<VerificationScheme, 'none'>

/** Who signs so, by the names that people look for; the button of each leads to an endpoint that checks it. */
export const SENDERS: readonly { readonly name: string; readonly scheme: Signed; readonly where: string }[] = [
  { name: 'Stripe', scheme: 'payments_provider', where: 'Developers → Webhooks. Stripe gives the secret (whsec_…) once the endpoint is added there.' },
  { name: 'GitHub', scheme: 'code_host', where: 'Settings → Webhooks of the repository. Choose application/json, and give it this secret.' },
  { name: 'Shopify', scheme: 'commerce_platform', where: 'Settings → Notifications → Webhooks. Shopify shows its secret below the list.' },
  { name: 'Slack', scheme: 'chat_platform', where: 'Event Subscriptions of the app. The secret is the Signing Secret under Basic Information.' },
  { name: 'Standard Webhooks', scheme: 'standard_webhooks', where: 'The endpoint settings of the sender, Svix among them, give the secret (whsec_…).' },
  { name: 'Any HMAC', scheme: 'hmac', where: 'The sender puts the SHA-256 HMAC of the body, in hex, into the header X-Signature.' },
]

const HMAC = String.raw`openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1`

/** What makes the signature, and the headers that carry it. */
const SIGNING: Readonly<Record<Signed, { readonly lines: readonly string[]; readonly headers: readonly string[] }>> = {
  payments_provider: { lines: ['t=$(date +%s)', `sig=$(printf '%s.%s' "$t" "$body" | ${HMAC})`], headers: ['Stripe-Signature: t=$t,v1=$sig'] },
  code_host: { lines: [`sig=$(printf '%s' "$body" | ${HMAC})`], headers: ['X-Hub-Signature-256: sha256=$sig'] },
  commerce_platform: { lines: [`sig=$(printf '%s' "$body" | openssl dgst -sha256 -hmac "$SECRET" -binary | openssl base64 -A)`], headers: ['X-Shopify-Hmac-Sha256: $sig'] },
  chat_platform: { lines: ['t=$(date +%s)', `sig=$(printf 'v0:%s:%s' "$t" "$body" | ${HMAC})`], headers: ['X-Slack-Request-Timestamp: $t', 'X-Slack-Signature: v0=$sig'] },
  standard_webhooks: {
    lines: ['t=$(date +%s)', 'id=msg_$t', `key=$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`, `sig=$(printf '%s.%s.%s' "$id" "$t" "$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)`],
    headers: ['webhook-id: $id', 'webhook-timestamp: $t', 'webhook-signature: v1,$sig'],
  },
  hmac: { lines: [`sig=$(printf '%s' "$body" | ${HMAC})`], headers: ['X-Signature: $sig'] },
}

/** A command that signs the sample as the sender would, and sends it. */
export function signedCurl({ scheme, url, secret }: { readonly scheme: Signed; readonly url: string; readonly secret: string }): string {
  const { lines, headers } = SIGNING[scheme]
  return [`SECRET='${secret}'`, `body='${SAMPLE_TEXT}'`, ...lines, [`curl ${url}`, ...["'content-type: application/json'", ...headers.map((header) => `"${header}"`)].map((header) => `  -H ${header}`), '  -d "$body"'].join(' \\\n')].join('\n')
}

/** A secret as the scheme has them: text without a quote, so that it can stand in a command. */
export function newSecret(scheme: Signed): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  const text = btoa(String.fromCodePoint(...bytes))
  return scheme === 'standard_webhooks' ? `whsec_${text}` : text.replaceAll(/[+/=]/g, '')
}
