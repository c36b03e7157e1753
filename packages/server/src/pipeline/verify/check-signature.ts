import { verifyServiceSignature, verifySignature, type Signed } from '../../domain/signature/index.ts'
import type { HeldSecret } from '../directory.ts'
import { reject, type Rejected } from '../types.ts'
import type { Check, Passage } from './passage.ts'

/**
 * Contract part 2: checks the raw bytes before idempotency, quota and storage. An endpoint's scheme also applies on
 * /v1/webhooks/{ingest_key}/{slug}, and a key's signature on all URLs of the key. Without a stored secret, the answer is always
 * 401. Secrets expire by the database's clock; this machine's clock decides how old a signature is.
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
  const failure = verifySignature({
    ...signedBy(webhook.secrets, { passage, nowSeconds }),
    settings: webhook.settings,
    url: 'signed' in webhook.settings ? deps.baseUrl() + passage.captured.target : undefined,
  })
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
