import { LIMITS, VERIFICATION_SCHEMES, type RefusedSample, type VerificationSettings } from '@postroad/contract'
import { refuse } from '../../../../domain/refusal.ts'
import { explainRefused, hintsOfRefused, isTimed, SIGNATURE_STEPS } from '../../../../domain/signature/index.ts'
import type { Room } from '../../../verbs.ts'
import { findWebhook, type WebhookRow } from '../queries.ts'
import { listSamples, type SampleRow } from './queries.ts'

export { deleteSamplesOf } from './queries.ts'

const DAY_MS = 86_400_000

export const refusedSamples: Room<'webhooks'>['refusedSamples'] = async (ctx, { id, reason }) => {
  const webhook = await findWebhook(ctx.db, { ...ctx, id })
  if (webhook === undefined) throw refuse('not_found')
  const since = new Date(ctx.clock.now() - LIMITS.refusedSampleDays * DAY_MS)
  const rows = await listSamples(ctx.db, { ...ctx, webhookId: id, reason: reason ?? null, since })
  return { samples: rows.map((row) => present(row, webhook)) }
}

function present(row: SampleRow, webhook: WebhookRow): RefusedSample {
  return {
    reason: row.reason,
    at: row.at.toISOString(),
    source_ip: row.source_ip,
    method: row.method,
    header_names: [...row.header_names],
    signature_forms: row.signature_forms,
    headers: row.headers,
    body: row.body,
    body_bytes: row.body_size,
    explanation: explanationOf(row, webhook),
  }
}

/** Explains a signature that the endpoint required. A signature that an ingest key required has no scheme of the endpoint. */
function explanationOf(row: SampleRow, webhook: WebhookRow): RefusedSample['explanation'] {
  const scheme = VERIFICATION_SCHEMES.find((one) => one === row.scheme)
  const failedStep = SIGNATURE_STEPS.find((one) => one === row.failed_step)
  const { reason } = row
  if (scheme === undefined || scheme === 'none' || failedStep === undefined || row.detail === null) return null
  if (reason !== 'missing_header' && reason !== 'bad_signature' && reason !== 'stale_timestamp') return null
  const settings: VerificationSettings = webhook.verification
  const refused = {
    scheme,
    failedStep,
    detail: row.detail,
    headerNames: row.header_names,
    isTimed: isTimed(scheme, settings),
  }
  return {
    scheme,
    has_secret: webhook.secret !== null,
    ok: false,
    reason,
    failed_step: failedStep,
    matched_secret: null,
    age_seconds: null,
    steps: [...explainRefused(refused)],
    hints: settings.scheme === 'none' ? [] : [...hintsOfRefused(settings, refused)],
  }
}
