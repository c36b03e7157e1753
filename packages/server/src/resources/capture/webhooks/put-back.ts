import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { putBack, type Snapshot } from '../../workspace/snapshots/index.ts'
import { endCredentialAt, insertCredential } from '../credentials/index.ts'
import { configOf } from './present.ts'
import { findWebhook } from './queries.ts'

/** Puts a deleted endpoint back, with its URLs: the current one, and a previous one that is still in its overlap. */
export async function putBackWebhook(tx: Ctx, snapshot: Snapshot & { readonly id: string }) {
  const { id } = snapshot
  const row = (await putBack(tx, snapshot)) ? await findWebhook(tx.db, { ...tx, id }) : undefined
  if (row === undefined)
    throw refuse('slug_taken', 'Another endpoint now has this slug. Change that slug, then restore this one.')
  const open = (column: 'url_slug' | 'previous_url_slug', sealed: Buffer): Buffer =>
    hashCredential(tx.cipher.open(sealed, secretPlace(`webhooks.${column}`, id)).reveal())
  const credential = {
    workspaceId: tx.workspaceId,
    projectId: tx.projectId,
    kind: 'webhook_url',
    subjectId: id,
  } as const
  await insertCredential(tx.db, { ...credential, hash: open('url_slug', row.url_slug) })
  const { previous_url_slug: previous, previous_url_expires_at: expiresAt } = row
  if (previous !== null && expiresAt !== null && expiresAt.getTime() > tx.clock.now()) {
    const hash = open('previous_url_slug', previous)
    await insertCredential(tx.db, { ...credential, hash })
    await endCredentialAt(tx.db, { workspaceId: tx.workspaceId, hash, expiresAt })
  }
  await configChanged(tx)
  return configOf(row)
}
