import { readDigest, type Reading, type Signed } from './reading.ts'

const SIGNATURE = {
  header: 'X-Shopify-Hmac-Sha256',
  form: '<base64 of 32 bytes>',
  wellFormed: /^[A-Za-z0-9+/]{43}=$/,
  recipe: { prefix: '', algorithm: 'sha256', encoding: 'base64' },
} as const

/** The base64 digest of the body. */
export function readCommercePlatform(headers: Signed['headers']): Reading {
  return readDigest(headers, SIGNATURE)
}
