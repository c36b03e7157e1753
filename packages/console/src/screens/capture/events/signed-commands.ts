import { curlCommand, shellWord, type ShellPart } from '@postroad/contract/quoting'
import type { SignedScheme, SignedSender } from '../../../parts/senders.ts'
import { OPEN } from '../../../parts/verification-draft.ts'
import { SAMPLE_TEXT } from './sample.ts'

const HMAC = String.raw`openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1`

const HMAC_64 = 'openssl dgst -sha256 -hmac "$SECRET" -binary | openssl base64 -A'

type Signing = { readonly lines: readonly string[]; readonly headers: Readonly<Record<string, readonly ShellPart[]>> }

const SIG = { variable: 'sig' }
const T = { variable: 't' }

/** The commands that make the signature, and the headers that contain it. */
const SIGNING: Readonly<Record<SignedScheme, (sender: SignedSender) => Signing>> = {
  payments_provider: () => ({
    lines: ['t=$(date +%s)', `sig=$(printf '%s.%s' "$t" "$body" | ${HMAC})`],
    headers: { 'Stripe-Signature': ['t=', T, ',v1=', SIG] },
  }),
  code_host: () => ({
    lines: [`sig=$(printf '%s' "$body" | ${HMAC})`],
    headers: { 'X-Hub-Signature-256': ['sha256=', SIG] },
  }),
  commerce_platform: () => ({
    lines: [`sig=$(printf '%s' "$body" | ${HMAC_64})`],
    headers: { 'X-Shopify-Hmac-Sha256': [SIG] },
  }),
  chat_platform: () => ({
    lines: ['t=$(date +%s)', `sig=$(printf 'v0:%s:%s' "$t" "$body" | ${HMAC})`],
    headers: { 'X-Slack-Request-Timestamp': [T], 'X-Slack-Signature': ['v0=', SIG] },
  }),
  standard_webhooks: ({ headerPrefix: prefix = 'webhook' }) => ({
    lines: [
      't=$(date +%s)',
      'id=msg_$t',
      `key=$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`,
      `sig=$(printf '%s.%s.%s' "$id" "$t" "$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)`,
    ],
    headers: {
      [`${prefix}-id`]: [{ variable: 'id' }],
      [`${prefix}-timestamp`]: [T],
      [`${prefix}-signature`]: ['v1,', SIG],
    },
  }),
  hmac: ({ verification }) => {
    const { header, prefix, encoding } = { ...OPEN, ...verification }
    return {
      lines: [`sig=$(printf '%s' "$body" | ${encoding === 'base64' ? HMAC_64 : HMAC})`],
      headers: { [header]: [prefix, SIG] },
    }
  },
}

/** A command that signs the sample as the sender would, and sends it. */
export function signedCurl({
  sender,
  url,
  secret,
}: {
  readonly sender: SignedSender
  readonly url: string
  readonly secret: string
}): string {
  const { lines, headers } = SIGNING[sender.verification.scheme](sender)
  return [
    `SECRET=${shellWord(secret)}`,
    `body=${shellWord(SAMPLE_TEXT)}`,
    ...lines,
    curlCommand({ url, headers: { 'content-type': 'application/json', ...headers }, body: { variable: 'body' } }),
  ].join('\n')
}

/** A secret in the form of the scheme: text without a quote, so that a command can contain it. */
export function newSecret(scheme: SignedScheme): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  const text = btoa(String.fromCodePoint(...bytes))
  return scheme === 'standard_webhooks' ? `whsec_${text}` : text.replaceAll(/[+/=]/g, '')
}
