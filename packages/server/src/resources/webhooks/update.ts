import { encodeId, patchVerification, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { checkConditions } from '../check-conditions.ts'
import { configChanged } from '../projects/index.ts'
import type { Room } from '../verbs.ts'
import { sealedSecret } from './create.ts'
import { changedHandshake } from './handshake.ts'
import { presentWebhook } from './present.ts'
import { findWebhook, isSlugTaken, updateWebhook, type WebhookRow } from './queries.ts'
import { urlParts } from './url-parts.ts'

type Input = RouteInput<Routes['webhooks']['update']>

/** Changes what was sent. A secret set here replaces the old one at once, also one that a rotation kept alive. */
export const update: Room<'webhooks'>['update'] = (ctx, input) => {
  checkConditions(input.criteria, 'criteria')
  return inTransaction(ctx, async (tx) => {
    const held = await findWebhook(tx.db, { ...tx, id: input.id, lock: true })
    if (held === undefined) throw refuse('not_found')
    if (input.slug !== undefined && input.slug !== held.slug && (await isSlugTaken(tx.db, { ...tx, slug: input.slug }))) throw refuse('slug_taken')
    const row = await updateWebhook(tx.db, {
      ...tx,
      ...changed(held, input),
      ...changedVerification(tx, held, input.verification),
      ...changedHandshake(tx, held, input.handshake),
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    const members = Object.keys(input).filter((member) => member !== 'id')
    await audit(tx, { action: 'update_webhook', target: encodeId('webhook', held.id), details: { changed: members } })
    await configChanged(tx)
    return { webhook: presentWebhook(tx, row, await urlParts(tx)) }
  })
}

function changed(held: WebhookRow, input: Input) {
  return {
    id: held.id,
    name: input.name ?? held.name,
    slug: input.slug ?? held.slug,
    dataset: input.dataset ?? held.dataset,
    enabled: input.enabled ?? held.enabled,
    criteria: input.criteria ?? held.criteria,
    mappings: input.mappings ?? held.mappings,
    ip_allowlist: input.ip_allowlist ?? held.ip_allowlist,
    cors_origins: input.cors === undefined ? held.cors_origins : (input.cors?.origins ?? null),
  }
}

type Verified = Pick<WebhookRow, 'verification' | 'secret' | 'previous_secret' | 'previous_secret_expires_at'>

function changedVerification(tx: Ctx, held: WebhookRow, patch: Input['verification']): Verified {
  const { verification: settings, secret: heldSecret, previous_secret, previous_secret_expires_at } = held
  if (patch === undefined) return { verification: settings, secret: heldSecret, previous_secret, previous_secret_expires_at }
  const change = patchVerification({ held: settings, patch })
  if ('error' in change) throw refuse('invalid_request', `verification: ${change.error}`)
  const verification = change.settings
  const secret = sealedSecret(tx, { id: held.id, secret: 'secret' in patch ? patch.secret : undefined })
  if (secret === null && verification.scheme !== 'none') return { verification, secret: heldSecret, previous_secret, previous_secret_expires_at }
  return { verification, secret, previous_secret: null, previous_secret_expires_at: null }
}
