import {
  neededText,
  verifyServiceSignature,
  verifySignature,
  type Needed,
  type Signed,
} from '../../domain/signature/index.ts'
import type { Deps } from '../../context.ts'
import type { FoundText, ProviderTexts } from '../../platform/provider-texts.ts'
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
  const url = signsUrl(webhook) ? deps.baseUrl() + passage.captured.target : undefined
  return checked(deps, { passage, webhook, signed: { ...signedBy(webhook.secrets, { passage, nowSeconds }), url } })
}

/** Schemes with signed content can cover the URL, and a token can be for it. */
const signsUrl = ({ settings }: WebhookPlan): boolean => 'signed' in settings || settings.scheme === 'oidc_bearer'

/** The time at which the age of a signature is measured, in seconds: for a request from quarantine, when it came. */
function momentOf({ clock }: Deps, { captured: { again, receivedAt } }: Passage): number {
  return Math.floor((again === true ? receivedAt : clock.wall()) / 1_000)
}

type Checked = Rejected | undefined
type ToCheck = { readonly passage: Passage; readonly webhook: WebhookPlan; readonly signed: Signed }

/** Checks with the texts that the scheme needs of its provider: they are cached, so nearly every request waits for none. */
function checked(deps: Deps, of: ToCheck): Checked | Promise<Checked> {
  const { settings } = of.webhook
  const needed = neededText(settings, of.signed)
  if (needed === undefined) return decided(of)
  if ('reason' in needed) return refused(needed, settings.scheme)
  const found = textsOf(deps, of).at(needed)
  const next = (text: FoundText): Checked | Promise<Checked> => withText(deps, { ...of, needed, found: text })
  return found instanceof Promise ? found.then(next) : next(found)
}

/** An owner of an endpoint chooses the issuer, but not where certificates are. */
function textsOf({ providerTexts }: Deps, { webhook, passage }: ToCheck): ProviderTexts['certificates'] {
  return webhook.settings.scheme === 'oidc_bearer'
    ? providerTexts.keysOf(passage.receiver.plan.workspaceId)
    : providerTexts.certificates
}

type WithText = ToCheck & { readonly needed: Needed; readonly found: FoundText }

/** Without the text of the provider, the signature cannot be checked, so the sender must send the event again. */
function withText(deps: Deps, { needed, found, ...of }: WithText): Checked | Promise<Checked> {
  if (found === 'unavailable') return reject('provider_unavailable', { retryAfterSeconds: PROVIDER_RETRY_SECONDS })
  if (found === 'invalid') return decided(of)
  return checked(deps, { ...of, signed: { ...of.signed, fetched: { ...needed, text: found.text } } })
}

function decided({ passage, webhook: { settings }, signed }: ToCheck): Checked {
  const failure = verifySignature({ ...signed, settings })
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
