import { encodeId, verificationSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { secretPlace } from '../../secret-place.ts'
import { datasetFrom } from '../../../domain/slug.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { insertCredential } from '../credentials/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { insertUnderFreeSlug } from '../../free-slug.ts'
import type { Room } from '../../verbs.ts'
import { checkReading } from './check-reading.ts'
import { handshakeColumns } from './handshake.ts'
import { configOf, presentWebhook } from './present.ts'
import { insertWebhook } from './queries.ts'
import { checkSecret } from './rotate-secret.ts'
import { mintUrlSlug, urlParts } from './url-parts.ts'
import { keepVersion } from './versions.ts'

/** Creates an endpoint and its URL. The slug in the URL is stored sealed and found by its hash. */
export const create: Room<'webhooks'>['create'] = (ctx, input) => {
  checkConditions(input.criteria, 'criteria')
  const verification = verificationSettings(input.verification)
  const secret = 'secret' in input.verification ? input.verification.secret : undefined
  checkSecret(verification, secret)
  checkReading(input)
  return inTransaction(ctx, async (tx) => {
    const id = tx.uuid()
    const urlSlug = mintUrlSlug(tx)
    const settings = {
      ...tx,
      id,
      name: input.name,
      enabled: input.enabled,
      criteria: input.criteria,
      mappings: input.mappings,
      verification,
      secret: sealedSecret(tx, { id, secret }),
      ip_allowlist: input.ip_allowlist,
      cors_origins: input.cors?.origins ?? null,
      response: input.response,
      body_as: input.body_as,
      split: input.split,
      idempotency: input.idempotency,
      customer: input.customer,
      event_title: input.event_title,
      refused_samples: input.refused_samples,
      ...handshakeColumns(tx, { id, sent: input.handshake }),
      url_slug: tx.cipher.seal(urlSlug, secretPlace('webhooks.url_slug', id)),
      now: new Date(tx.clock.now()),
    }
    const insert = (slug: string): ReturnType<typeof insertWebhook> =>
      insertWebhook(tx.db, { ...settings, slug, dataset: input.dataset ?? datasetFrom(slug) })
    const row = await insertUnderFreeSlug(tx, { slug: input.slug, name: input.name, fallback: 'webhook', insert })
    await insertCredential(tx.db, { ...tx, hash: hashCredential(urlSlug), kind: 'webhook_url', subjectId: id })
    await keepVersion(tx, row, { before: undefined, restoredFrom: null })
    await audit(tx, {
      action: 'create_webhook',
      target: encodeId('webhook', id),
      details: { name: row.name, scheme: row.verification.scheme },
      change: { before: null, after: configOf(row) },
    })
    await configChanged(tx)
    return { webhook: presentWebhook(tx, row, await urlParts(tx)) }
  })
}

/** A verification secret, sealed for its row; null when none was sent. */
export function sealedSecret(ctx: Ctx, of: { id: string; secret: string | undefined }): Buffer | null {
  return of.secret === undefined ? null : ctx.cipher.seal(of.secret, secretPlace('webhooks.secret', of.id))
}
