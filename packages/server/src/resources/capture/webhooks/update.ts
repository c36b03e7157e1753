import { encodeId, patchVerification, VerificationSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { checkReading } from './check-reading.ts'
import { sealedSecret } from './create.ts'
import { changedHandshake } from './handshake.ts'
import { configOf, presentWebhook, type Settings } from './present.ts'
import { findWebhook, isSlugTaken, updateWebhook, type WebhookRow } from './queries.ts'
import { checkSecret } from './rotate-secret.ts'
import { deleteSamplesOf } from './refused-samples/index.ts'
import { urlParts } from './url-parts.ts'
import { changedMembers, keepVersion } from './versions.ts'

/** Changes the members that were sent. A new secret replaces the old one immediately, and ends an overlapping one. */
export const update: Room<'webhooks'>['update'] = (ctx, input) => updateWith(ctx, input, {})

/** The change that a configuration makes: it may set another scheme before the secret of the scheme is known. */
export const updateWithoutSecret: typeof update = (ctx, input) => updateWith(ctx, input, { withoutSecret: true })

function updateWith(
  ctx: Ctx,
  { id, ...settings }: Settings & { readonly id: string },
  how: Pick<Change, 'withoutSecret'>,
): ReturnType<typeof update> {
  checkConditions(settings.criteria, 'criteria')
  return inTransaction(ctx, async (tx) => {
    const held = await findWebhook(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    const row = await changeWebhook(tx, held, { settings, restoredFrom: null, ...how })
    await audit(tx, {
      action: 'update_webhook',
      target: encodeId('webhook', id),
      details: { changed: Object.keys(settings) },
      change: { before: configOf(held), after: configOf(row) },
    })
    await configChanged(tx)
    return { webhook: presentWebhook(tx, row, await urlParts(tx)) }
  })
}

export type Change = {
  readonly settings: Settings
  /** The version that these settings were restored from. */
  readonly restoredFrom: number | null
  /** Allows another scheme before its secret is known. */
  readonly withoutSecret?: true
}

/** Writes a change to an endpoint whose row is locked, and a version if a setting differs or was restored. */
export async function changeWebhook(tx: Ctx, held: WebhookRow, change: Change): Promise<WebhookRow> {
  const { settings, restoredFrom } = change
  if (
    settings.slug !== undefined &&
    settings.slug !== held.slug &&
    (await isSlugTaken(tx.db, { ...tx, slug: settings.slug }))
  )
    throw refuse('slug_taken')
  const next = {
    ...held,
    ...changed(held, settings),
    ...changedVerification(tx, held, change),
    ...changedHandshake(tx, held, settings.handshake),
  }
  checkReading(next)
  const makesVersion = restoredFrom !== null || changedMembers(held, next).length > 0
  const row = await updateWebhook(tx.db, {
    ...tx,
    ...next,
    version: held.version + (makesVersion ? 1 : 0),
    now: new Date(tx.clock.now()),
  })
  if (row === undefined) throw refuse('not_found')
  if (!row.refused_samples) await deleteSamplesOf(tx.db, { ...tx, webhookId: row.id })
  if (makesVersion) await keepVersion(tx, row, { before: held, restoredFrom })
  return row
}

function changed(held: WebhookRow, settings: Settings) {
  const { name, slug, dataset, enabled, criteria, mappings, cors } = settings
  return {
    name: name ?? held.name,
    slug: slug ?? held.slug,
    dataset: dataset ?? held.dataset,
    enabled: enabled ?? held.enabled,
    criteria: criteria ?? held.criteria,
    mappings: mappings ?? held.mappings,
    cors_origins: cors === undefined ? held.cors_origins : (cors?.origins ?? null),
    ...changedIntake(held, settings),
  }
}

/** The settings that apply to each request besides its payload. */
function changedIntake(held: WebhookRow, settings: Settings) {
  const { ip_allowlist, response, body_as, split, idempotency, customer, event_title, refused_samples } = settings
  return {
    ip_allowlist: ip_allowlist ?? held.ip_allowlist,
    response: response === undefined ? held.response : response,
    body_as: body_as ?? held.body_as,
    split: split === undefined ? held.split : split,
    idempotency: idempotency === undefined ? held.idempotency : idempotency,
    customer: customer === undefined ? held.customer : customer,
    event_title: event_title === undefined ? held.event_title : event_title,
    refused_samples: refused_samples ?? held.refused_samples,
  }
}

type Verified = Pick<WebhookRow, 'verification' | 'secret' | 'previous_secret' | 'previous_secret_expires_at'>

function changedVerification(tx: Ctx, held: WebhookRow, change: Change): Verified {
  const patch = change.settings.verification
  const { verification: settings, secret: heldSecret, previous_secret, previous_secret_expires_at } = held
  if (patch === undefined)
    return { verification: settings, secret: heldSecret, previous_secret, previous_secret_expires_at }
  const verification = changedSettings(settings, patch, change)
  const given = 'secret' in patch ? patch.secret : undefined
  checkSecret(verification, given)
  const secret = sealedSecret(tx, { id: held.id, secret: given })
  const keeps = secret === null && verification.scheme === settings.scheme
  if (keeps) return { verification, secret: heldSecret, previous_secret, previous_secret_expires_at }
  return { verification, secret, previous_secret: null, previous_secret_expires_at: null }
}

function changedSettings(
  held: VerificationSettings,
  patch: NonNullable<Settings['verification']>,
  { withoutSecret }: Change,
): VerificationSettings {
  if (withoutSecret && patch.scheme !== held.scheme) return VerificationSettings.parse(patch)
  const change = patchVerification({ held, patch })
  if ('error' in change) throw refuse('invalid_request', `verification: ${change.error}`)
  return change.settings
}
