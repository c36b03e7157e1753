import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { deleteCredentialsOf } from '../credentials/index.ts'
import { afterCursor, readPage } from '../../page.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { keepDeleted } from '../../workspace/snapshots/index.ts'
import type { Room } from '../../verbs.ts'
import { create } from './create.ts'
import { configOf, presentWebhook } from './present.ts'
import { deleteWebhook, findWebhook, listWebhooks } from './queries.ts'
import { refusedSamples } from './refused-samples/index.ts'
import { restoreVersion } from './restore.ts'
import { rotateVerificationSecret } from './rotate-secret.ts'
import { rotate } from './rotate-url.ts'
import { signSample } from './sign-sample.ts'
import { tryOut } from './try-out.ts'
import { update, updateWithoutSecret } from './update.ts'
import { urlParts } from './url-parts.ts'
import { verifySample } from './verify-sample.ts'
import { getVersion, listVersions } from './versions.ts'

export { putBackWebhook } from './put-back.ts'
export { acceptedStatus } from './queries.ts'
export { findWebhook, updateWithoutSecret }
export { listVersionDatasets } from './version-datasets/queries.ts'

export const webhooks: Room<'webhooks'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const [{ rows, next_cursor }, parts] = await Promise.all([
      readPage(ctx.db, { limit, list: (db, most) => listWebhooks(db, { ...ctx, before, limit: most }) }),
      urlParts(ctx),
    ])
    return { webhooks: rows.map((row) => presentWebhook(ctx, row, parts)), next_cursor }
  },

  create,

  get: async (ctx, { id }) => {
    const row = await findWebhook(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { webhook: presentWebhook(ctx, row, await urlParts(ctx)) }
  },

  update,

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findWebhook(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const deletion = await keepDeleted(tx, { kind: 'webhook', id, name: held.name })
      await deleteWebhook(tx.db, { ...tx, id })
      await deleteCredentialsOf(tx.db, { ...tx, subjectId: id })
      await audit(tx, {
        action: 'delete_webhook',
        target: encodeId('webhook', id),
        details: { name: held.name, deletion_id: deletion.id },
        change: { before: configOf(held), after: null },
      })
      await configChanged(tx)
      return { ok: true, deletion }
    }),

  test: tryOut,

  verifySample,

  refusedSamples,

  signSample,

  rotate,

  rotateVerificationSecret,

  listVersions,

  getVersion,

  restoreVersion,
}
