import { digestIn } from './reading.ts'

/** `sha256=<hex>` over the body. */
export const readCodeHost = digestIn({
  header: 'X-Hub-Signature-256',
  form: 'sha256=<hex>',
  wellFormed: /^sha256=[0-9a-fA-F]{64}$/,
  recipe: { prefix: 'sha256=', algorithm: 'sha256', encoding: 'hex' },
})
