import type { SignedScheme, SignedSender } from '../../parts/senders.ts'
import { OPEN } from '../../parts/verification-draft.ts'
import { SAMPLE_TEXT } from './sample.ts'

const HMAC = String.raw`openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1`

const HMAC_64 = 'openssl dgst -sha256 -hmac "$SECRET" -binary | openssl base64 -A'

type Signing = { readonly lines: readonly string[]; readonly headers: readonly string[] }

/** What makes the signature, and the headers that carry it. */
const SIGNING: Readonly<Record<SignedScheme, (sender: SignedSender) => Signing>> = {
  payments_provider: () => ({ lines: ['t=$(date +%s)', `sig=$(printf '%s.%s' "$t" "$body" | ${HMAC})`], headers: ['Stripe-Signature: t=$t,v1=$sig'] }),
  code_host: () => ({ lines: [`sig=$(printf '%s' "$body" | ${HMAC})`], headers: ['X-Hub-Signature-256: sha256=$sig'] }),
  commerce_platform: () => ({ lines: [`sig=$(printf '%s' "$body" | ${HMAC_64})`], headers: ['X-Shopify-Hmac-Sha256: $sig'] }),
  chat_platform: () => ({ lines: ['t=$(date +%s)', `sig=$(printf 'v0:%s:%s' "$t" "$body" | ${HMAC})`], headers: ['X-Slack-Request-Timestamp: $t', 'X-Slack-Signature: v0=$sig'] }),
  standard_webhooks: ({ headerPrefix: prefix = 'webhook' }) => ({
    lines: ['t=$(date +%s)', 'id=msg_$t', `key=$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`, `sig=$(printf '%s.%s.%s' "$id" "$t" "$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)`],
    headers: [`${prefix}-id: $id`, `${prefix}-timestamp: $t`, `${prefix}-signature: v1,$sig`],
  }),
  hmac: ({ verification }) => {
    const { header, prefix, encoding } = { ...OPEN, ...verification }
    return { lines: [`sig=$(printf '%s' "$body" | ${encoding === 'base64' ? HMAC_64 : HMAC})`], headers: [`${header}: ${prefix}$sig`] }
  },
}

/** A command that signs the sample as the sender would, and sends it. */
export function signedCurl({ sender, url, secret }: { readonly sender: SignedSender; readonly url: string; readonly secret: string }): string {
  const { lines, headers } = SIGNING[sender.verification.scheme](sender)
  return [`SECRET='${secret}'`, `body='${SAMPLE_TEXT}'`, ...lines, [`curl ${url}`, ...["'content-type: application/json'", ...headers.map((header) => `"${header}"`)].map((header) => `  -H ${header}`), '  -d "$body"'].join(' \\\n')].join('\n')
}

/** A secret as the scheme has them: text without a quote, so that it can stand in a command. */
export function newSecret(scheme: SignedScheme): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  const text = btoa(String.fromCodePoint(...bytes))
  return scheme === 'standard_webhooks' ? `whsec_${text}` : text.replaceAll(/[+/=]/g, '')
}
