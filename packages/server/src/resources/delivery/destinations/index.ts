import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { cancelOutstanding } from '../deliveries/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { create } from './create.ts'
import { presentDestination } from './present.ts'
import { deleteDestination, findDestination, listDestinations } from './queries.ts'
import { health } from './health.ts'
import { probe } from './probe.ts'
import { recover } from './recover.ts'
import { revealSecret, rotateSecret } from './secret.ts'
import { test } from './try-out.ts'
import { update } from './update.ts'

export { checkTemplate } from './check-template.ts'
export { missingSecrets, listConfiguredDestinations, type ConfiguredDestination, type ReachConfig } from './config.ts'
export { checkNewDestination, checkUrl, createDestination, insertNewDestination } from './create.ts'
export { changedHeaders, checkHeaders } from './headers.ts'
export { notifyDisabled } from './notify-disabled.ts'
export { listDestinationIds, listDestinationNames } from './queries.ts'
export { destinationSettings } from './settings.ts'
export { changeDestination, checkChangeOf } from './update.ts'

export const destinations: Room<'destinations'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listDestinations(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { destinations: rows.map((row) => presentDestination(ctx, row)), next_cursor }
  },

  create,

  get: async (ctx, { id }) => {
    const row = await findDestination(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { destination: presentDestination(ctx, row) }
  },

  update,

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      if ((await deleteDestination(tx.db, { ...tx, id })) === 0) throw refuse('not_found')
      await cancelOutstanding(tx.db, { ...tx, destinationId: id, now: new Date(tx.clock.now()) })
      await audit(tx, { action: 'delete_destination', target: encodeId('destination', id) })
      await configChanged(tx)
      return { ok: true }
    }),

  revealSecret,
  rotateSecret,
  recover,
  test,
  probe,
  health,
}
