import { digestIn } from './reading.ts'

/** The base64 digest of the body. */
export const readCommercePlatform = digestIn({
  header: 'X-Shopify-Hmac-Sha256',
  form: '<base64 of 32 bytes>',
  wellFormed: /^[A-Za-z0-9+/]{43}=$/,
  recipe: { prefix: '', algorithm: 'sha256', encoding: 'base64' },
})
