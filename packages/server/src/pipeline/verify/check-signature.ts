import { neededUrl, verifyServiceSignature, verifySignature, type Signed } from '../../domain/signature/index.ts'
import type { Deps } from '../../context.ts'
import type { Fetched } from '../../platform/provider-texts.ts'
import type { HeldSecret, WebhookPlan } from '../directory.ts'
import { PROVIDER_RETRY_SECONDS, reject, type Rejected } from '../types.ts'
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
  const nowSeconds = momentOf(deps, passage)
  if (ingestKey?.secrets !== undefined) {
    const failure = verifyServiceSignature(signedBy(ingestKey.secrets, { passage, nowSeconds }))
    if (failure !== undefined) return refused(failure, 'service_signature')
  }
  if (!verifies) return proven(passage)
  const signed = signedBy(webhook.secrets, { passage, nowSeconds })
  const url = neededUrl(webhook.settings, signed)
  if (url === undefined) return decided(deps, { passage, webhook, signed })
  if (typeof url !== 'string') return refused(url, webhook.settings.scheme)
  const found = deps.providerTexts.at(url)
  const checked = (fetched: Fetched): Checked => withText(deps, { passage, webhook, signed, fetched })
  return found instanceof Promise ? found.then(checked) : checked(found)
}

/** The time at which the age of a signature is measured, in seconds: for a request from quarantine, when it came. */
function momentOf({ clock }: Deps, { captured: { again, receivedAt } }: Passage): number {
  return Math.floor((again === true ? receivedAt : clock.wall()) / 1_000)
}

type Checked = Rejected | undefined
type ToCheck = { readonly passage: Passage; readonly webhook: WebhookPlan; readonly signed: Signed }

/** Without the text of the provider, the signature cannot be checked, so the sender must send the event again. */
function withText(deps: Deps, of: ToCheck & { readonly fetched: Fetched }): Checked {
  const { fetched, signed } = of
  if (fetched === 'unavailable') return reject('provider_unavailable', { retryAfterSeconds: PROVIDER_RETRY_SECONDS })
  return decided(deps, fetched === 'invalid' ? of : { ...of, signed: { ...signed, fetched: fetched.text } })
}

function decided(deps: Deps, { passage, webhook, signed }: ToCheck): Checked {
  const { settings } = webhook
  const failure = verifySignature({
    ...signed,
    settings,
    url: 'signed' in settings ? deps.baseUrl() + passage.captured.target : undefined,
  })
  return failure === undefined ? proven(passage) : refused(failure, settings.scheme)
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
