import { verifySignature } from '../../domain/signature/index.ts'
import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/**
 * Contract part 2: the scheme's check over the raw bytes, before idempotency, quota and storage.
 * It holds on the endpoint's URL and on /v1/webhooks/{ingest_key}/{slug}. No secret held: 401, always. Deadlines of secrets
 * are the database's time, as they were set; how old a signature is, is judged by this machine's.
 */
export const checkSignature: Check = (deps, { captured, receiver, body }) => {
  const { webhook } = receiver
  if (webhook === undefined || webhook.settings.scheme === 'none') return undefined
  const now = deps.clock.wall()
  const failure = verifySignature({
    settings: webhook.settings,
    secrets: webhook.secrets.filter((secret) => secret.until > captured.receivedAt).map((secret) => secret.value),
    headers: captured.headers,
    body,
    nowSeconds: Math.floor(now / 1_000),
  })
  return failure && reject(failure.reason, { text: failure.detail, scheme: webhook.settings.scheme })
}
