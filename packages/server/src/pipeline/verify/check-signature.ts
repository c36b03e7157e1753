import { verifyServiceSignature, verifySignature, type Signed } from '../../domain/signature/index.ts'
import type { HeldSecret } from '../directory.ts'
import { reject, type Rejected } from '../types.ts'
import type { Check, Passage } from './passage.ts'

/**
 * Contract part 2: the scheme's check over the raw bytes, before idempotency, quota and storage. It holds on the endpoint's
 * URL and on /v1/webhooks/{ingest_key}/{slug}, and the signature that a key requires on all of its URLs. No secret held:
 * 401, always. Deadlines of secrets are the database's time; how old a signature is, this machine's clock judges.
 */
export const checkSignature: Check = (deps, passage) => {
  const { webhook, ingestKey } = passage.receiver
  const verifies = webhook !== undefined && webhook.settings.scheme !== 'none'
  if (!verifies && ingestKey?.secrets === undefined) return proven(passage)
  const nowSeconds = Math.floor(deps.clock.wall() / 1_000)
  if (ingestKey?.secrets !== undefined) {
    const failure = verifyServiceSignature(signedBy(ingestKey.secrets, { passage, nowSeconds }))
    if (failure !== undefined) return refused(failure, 'service_signature')
  }
  if (!verifies) return proven(passage)
  const failure = verifySignature({ ...signedBy(webhook.secrets, { passage, nowSeconds }), settings: webhook.settings })
  return failure === undefined ? proven(passage) : refused(failure, webhook.settings.scheme)
}

function proven(passage: Passage): undefined {
  passage.isProven = true
}

function signedBy(
  secrets: readonly HeldSecret[],
  { passage, nowSeconds }: { passage: Passage; nowSeconds: number },
): Signed {
  const { captured, body } = passage
  const living = secrets.filter((secret) => secret.until > captured.receivedAt).map((secret) => secret.value)
  return { secrets: living, headers: captured.headers, body, nowSeconds }
}

function refused(failure: NonNullable<ReturnType<typeof verifySignature>>, scheme: string): Rejected {
  return reject(failure.reason, { text: failure.detail, scheme, failedStep: failure.step })
}
