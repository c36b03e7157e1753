import { readDigest, type Reading, type Signed } from './reading.ts'

const SIGNATURE = {
  header: 'X-Hub-Signature-256',
  form: 'sha256=<hex>',
  wellFormed: /^sha256=[0-9a-f]{64}$/,
  recipe: { prefix: 'sha256=', algorithm: 'sha256', encoding: 'hex' },
} as const

/** `sha256=<hex>` over the body. */
export function readCodeHost(headers: Signed['headers']): Reading {
  return readDigest(headers, SIGNATURE)
}
