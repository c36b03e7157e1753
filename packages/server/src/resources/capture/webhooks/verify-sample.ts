import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { explainSignature, neededText, type Fetched, type HeldSecret } from '../../../domain/signature/index.ts'
import type { Room } from '../../verbs.ts'
import { presentWebhook } from './present.ts'
import { findWebhook, type WebhookRow } from './queries.ts'
import { urlParts } from './url-parts.ts'

const NOT_ASKED = { ok: true, reason: null, failed_step: null, matched_secret: null, age_seconds: null, steps: [] }

/** Explains how the verification of the endpoint would check a request, with its stored secrets. */
export const verifySample: Room<'webhooks'>['verifySample'] = async (ctx, { id, headers, body, body_base64, now }) => {
  const webhook = await findWebhook(ctx.db, { ...ctx, id })
  if (webhook === undefined) throw refuse('not_found')
  const settings = webhook.verification
  if (settings.scheme === 'none') {
    return {
      scheme: 'none',
      has_secret: false,
      ...NOT_ASKED,
      hints: ['This endpoint does not require signatures, so every request passes. Set a scheme to verify requests.'],
    }
  }
  const nowMs = now === undefined ? ctx.clock.wall() : typeof now === 'number' ? now * 1_000 : now.getTime()
  const secrets = heldSecrets(ctx, webhook, nowMs)
  const sent = {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64'),
  }
  const url = presentWebhook(ctx, webhook, await urlParts(ctx)).public_url
  const fetched = await providerText(ctx, settings, { ...sent, secrets: secrets.map(({ value }) => value), url })
  const explained = explainSignature({
    settings,
    secrets,
    ...sent,
    fetched,
    nowSeconds: Math.floor(nowMs / 1_000),
    url,
  })
  return {
    scheme: settings.scheme,
    has_secret: webhook.secret !== null,
    ...explained,
    steps: [...explained.steps],
    hints: [...explained.hints],
  }
}

/** The certificate or the keys for a sample, which a scheme may need. */
async function providerText(
  { providerTexts, workspaceId }: Ctx,
  settings: WebhookRow['verification'],
  sent: Parameters<typeof neededText>[1],
): Promise<Fetched | undefined> {
  const texts = settings.scheme === 'oidc_bearer' ? providerTexts.keysOf(workspaceId) : providerTexts.certificates
  let { fetched } = sent
  for (;;) {
    const needed = neededText(settings, { ...sent, fetched })
    if (needed === undefined || 'reason' in needed) return fetched
    // oxlint-disable-next-line no-await-in-loop -- each text names the next one
    const found = await texts.at(needed)
    if (found === 'unavailable')
      throw refuse(
        'invalid_state',
        'Postroad cannot reach the provider to fetch its certificate or keys, so it cannot verify this signature. Try again in a moment.',
      )
    if (found === 'invalid') return fetched
    fetched = { ...needed, text: found.text }
  }
}

/** The current secret first, as in the ingest path. A previous one that has expired can still explain a sample. */
function heldSecrets(ctx: Ctx, row: WebhookRow, nowMs: number): readonly HeldSecret[] {
  const open = (column: 'secret' | 'previous_secret'): string | undefined => {
    const sealed = row[column]
    return sealed === null ? undefined : ctx.cipher.open(sealed, secretPlace(`webhooks.${column}`, row.id)).reveal()
  }
  const [current, previous] = [open('secret'), open('previous_secret')]
  const lives = (row.previous_secret_expires_at?.getTime() ?? 0) > nowMs
  return [
    ...(current === undefined ? [] : [{ name: 'current' as const, value: current }]),
    ...(previous === undefined
      ? []
      : [{ name: 'previous' as const, value: previous, ...(lives ? {} : { ended: true as const }) }]),
  ]
}
