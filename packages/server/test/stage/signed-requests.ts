import { createHmac } from 'node:crypto'

/** Requests as their senders sign them, written independently of the code under test. */

/** The time of the signature, in seconds since 1970. */
export const NOW = 1_700_000_000

/** Header names as they arrive. */
export const lower = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The method with which a sender signs. */
export type Sender = {
  readonly settings: object
  readonly names: readonly string[]
  readonly sign: (secret: string, body: Uint8Array, now: number) => Record<string, string>
}

export const mac = (
  secret: string | Uint8Array,
  parts: readonly (string | Uint8Array)[],
  form: { encoding: 'hex' | 'base64'; algorithm?: string },
): string => {
  const hmac = createHmac(form.algorithm ?? 'sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest(form.encoding)
}
export const hex = { encoding: 'hex' } as const
export const base64 = { encoding: 'base64' } as const
const standard =
  (set: string) =>
  (secret: string, body: Uint8Array, now: number): Record<string, string> => ({
    [`${set}-id`]: 'msg_1',
    [`${set}-timestamp`]: String(now),
    [`${set}-signature`]: `v1,${mac(Buffer.from(secret.slice(6), 'base64'), [`msg_1.${now}.`, body], base64)}`,
  })

export const SENDERS: Record<string, Sender> = {
  payments_provider: {
    settings: { scheme: 'payments_provider' },
    names: ['stripe-signature'],
    sign: (secret, body, now) => ({ 'stripe-signature': `t=${now},v1=${mac(secret, [`${now}.`, body], hex)}` }),
  },
  'payments_provider, neutral header': {
    settings: { scheme: 'payments_provider' },
    names: ['payment-signature'],
    sign: (secret, body, now) => ({ 'payment-signature': `t=${now},v1=${mac(secret, [`${now}.`, body], hex)}` }),
  },
  code_host: {
    settings: { scheme: 'code_host' },
    names: ['x-hub-signature-256'],
    sign: (secret, body) => ({ 'x-hub-signature-256': `sha256=${mac(secret, [body], hex)}` }),
  },
  commerce_platform: {
    settings: { scheme: 'commerce_platform' },
    names: ['x-shopify-hmac-sha256'],
    sign: (secret, body) => ({ 'x-shopify-hmac-sha256': mac(secret, [body], base64) }),
  },
  chat_platform: {
    settings: { scheme: 'chat_platform' },
    names: ['x-slack-signature', 'x-slack-request-timestamp'],
    sign: (secret, body, now) => ({
      'x-slack-request-timestamp': String(now),
      'x-slack-signature': `v0=${mac(secret, [`v0:${now}:`, body], hex)}`,
    }),
  },
  standard_webhooks: {
    settings: { scheme: 'standard_webhooks' },
    names: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    sign: standard('webhook'),
  },
  'standard_webhooks, svix headers': {
    settings: { scheme: 'standard_webhooks' },
    names: ['svix-id', 'svix-timestamp', 'svix-signature'],
    sign: standard('svix'),
  },
  'hmac sha256 hex': {
    settings: { scheme: 'hmac' },
    names: ['x-signature'],
    sign: (secret, body) => ({ 'x-signature': mac(secret, [body], hex) }),
  },
  'hmac sha1 base64 with a prefix': {
    settings: { scheme: 'hmac', header: 'X-Own', algorithm: 'sha1', encoding: 'base64', prefix: 'sha1=' },
    names: ['x-own'],
    sign: (secret, body) => ({ 'x-own': `sha1=${mac(secret, [body], { encoding: 'base64', algorithm: 'sha1' })}` }),
  },
  'custom_hmac with items': {
    settings: {
      scheme: 'custom_hmac',
      header: 'X-Own',
      signed: '{timestamp}:{body}',
      signature_item: 'h1',
      timestamp_item: 'ts',
    },
    names: ['x-own'],
    sign: (secret, body, now) => ({ 'x-own': `ts=${now};h1=${mac(secret, [`${now}:`, body], hex)}` }),
  },
  'custom_hmac with sha512, an id, and the time behind the body': {
    settings: {
      scheme: 'custom_hmac',
      header: 'X-Own',
      algorithm: 'sha512',
      encoding: 'base64',
      prefix: 'v1,',
      signed: '{id}.{body}.{timestamp}',
      id_header: 'X-Id',
      timestamp_header: 'X-Time',
    },
    names: ['x-own', 'x-id', 'x-time'],
    sign: (secret, body, now) => ({
      'x-id': 'msg_1',
      'x-time': String(now),
      'x-own': `v1,${mac(secret, ['msg_1.', body, `.${now}`], { encoding: 'base64', algorithm: 'sha512' })}`,
    }),
  },
}

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ok!').toString('base64')}`
export const BODY = Buffer.from('{"name":"Zoë","total":1.50}')
