import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import {
  deleteCredentialsOf,
  deleteOtherCredentialsOf,
  endCredentialAt,
  insertCredential,
} from '../credentials/index.ts'
import { checkOverlap, overlapEnd } from '../../overlap.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { presentWebhook } from './present.ts'
import { findWebhook, rotateUrl } from './queries.ts'
import { mintUrlSlug, urlParts } from './url-parts.ts'

/** Contract part 3: a new URL for the same endpoint. The previous URL works until its deadline; an older one ends now. */
export const rotate: Room<'webhooks'>['rotate'] = (ctx, { id, overlap_hours, end_overlap: mayEnd }) =>
  inTransaction(ctx, async (tx) => {
    const held = await findWebhook(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    checkOverlap(tx, { what: 'URL', until: held.previous_url_expires_at, mayEnd })
    const previous = tx.cipher.open(held.url_slug, secretPlace('webhooks.url_slug', id)).reveal()
    const slug = mintUrlSlug(tx)
    const end = overlapEnd(tx, overlap_hours)
    const at = { workspaceId: tx.workspaceId, subjectId: id }
    await (end === null
      ? deleteCredentialsOf(tx.db, at)
      : endOlder(tx, { ...at, hash: hashCredential(previous), expiresAt: end }))
    await insertCredential(tx.db, { ...at, hash: hashCredential(slug), kind: 'webhook_url', projectId: tx.projectId })
    const row = await rotateUrl(tx.db, {
      ...tx,
      id,
      url_slug: tx.cipher.seal(slug, secretPlace('webhooks.url_slug', id)),
      previous_url_slug: end === null ? null : tx.cipher.seal(previous, secretPlace('webhooks.previous_url_slug', id)),
      previous_url_expires_at: end,
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    await audit(tx, {
      action: 'rotate_webhook_url',
      target: encodeId('webhook', id),
      details: { overlap_hours, previous_url_expires_at: end?.toISOString() ?? null },
      change: {
        before: { previous_url_expires_at: held.previous_url_expires_at?.toISOString() ?? null },
        after: { previous_url_expires_at: end?.toISOString() ?? null },
      },
    })
    await configChanged(tx)
    const { webhook_slug, public_path, public_url, previous_public_url, previous_url_expires_at } = presentWebhook(
      tx,
      row,
      await urlParts(tx),
    )
    return {
      id: encodeId('webhook', id),
      webhook_slug,
      public_path,
      public_url,
      previous_public_url,
      previous_url_expires_at,
    }
  })

/** An endpoint has only one previous URL, so an older one ends now. */
async function endOlder(
  tx: Ctx,
  previous: { workspaceId: string; subjectId: string; hash: Buffer; expiresAt: Date },
): Promise<void> {
  await deleteOtherCredentialsOf(tx.db, previous)
  await endCredentialAt(tx.db, previous)
}
