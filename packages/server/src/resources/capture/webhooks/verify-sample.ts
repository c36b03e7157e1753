import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../../domain/secret-place.ts'
import { explainSignature, type HeldSecret } from '../../../domain/signature/index.ts'
import type { Room } from '../../verbs.ts'
import { findWebhook, type WebhookRow } from './queries.ts'

const NOT_ASKED = { ok: true, reason: null, failed_step: null, matched_secret: null, age_seconds: null, steps: [] }

/** What the endpoint's verification would say to a request, with the secrets it holds. */
export const verifySample: Room<'webhooks'>['verifySample'] = async (ctx, { id, headers, body, body_base64, now }) => {
  const webhook = await findWebhook(ctx.db, { ...ctx, id })
  if (webhook === undefined) throw refuse('not_found')
  const settings = webhook.verification
  if (settings.scheme === 'none') {
    return {
      scheme: 'none',
      has_secret: false,
      ...NOT_ASKED,
      hints: ['This endpoint asks for no signature: every request passes. Set a scheme to verify them.'],
    }
  }
  const nowMs = now === undefined ? ctx.clock.wall() : typeof now === 'number' ? now * 1_000 : now.getTime()
  const explained = explainSignature({
    settings,
    secrets: heldSecrets(ctx, webhook, nowMs),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64'),
    nowSeconds: Math.floor(nowMs / 1_000),
  })
  return {
    scheme: settings.scheme,
    has_secret: webhook.secret !== null,
    ...explained,
    steps: [...explained.steps],
    hints: [...explained.hints],
  }
}

/** The current secret first, as on the road; a previous one that has ended may still explain a sample. */
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
