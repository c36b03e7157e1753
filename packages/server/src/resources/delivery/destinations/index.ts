import { refuse } from '../../../domain/refusal.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { create } from './create.ts'
import { presentDestination } from './present.ts'
import { findDestination, listDestinations } from './queries.ts'
import { removeDestination } from './remove.ts'
import { health } from './health.ts'
import { probe } from './probe.ts'
import { recover } from './recover.ts'
import { revealSecret, rotateSecret } from './secret.ts'
import { test } from './try-out.ts'
import { update } from './update.ts'

export { checkBatch, checkBody } from './check-body.ts'
export { checkTemplate } from './check-template.ts'
export { checkTransform } from './check-transform.ts'
export { missingSecrets, listConfiguredDestinations, type ConfiguredDestination, type ReachConfig } from './config.ts'
export { checkKind, checkUrl } from './check-kind.ts'
export { checkNewDestination, createDestination, insertNewDestination } from './create.ts'
export { changedHeaders, checkHeaders } from './headers.ts'
export { notifyDisabled } from './notify-disabled.ts'
export { putBackDestination, resumeDeleted } from './put-back.ts'
export { presentDestination } from './present.ts'
export { findDestination, listDestinationIds, listDestinationNames, listDestinations } from './queries.ts'
export { openReach } from './reach.ts'
export { removeDestination } from './remove.ts'
export { destinationSettings } from './settings.ts'
export { changeDestination, checkChangeOf } from './update.ts'
export { checkCustomerUrl } from './customer-url.ts'
export { checkSigning, publicKeysOf, publishedKeySet } from './signing.ts'

export const destinations: Room<'destinations'> = {
  list: async (ctx, { limit, cursor, customer, owner }) => {
    const asked = {
      before: afterCursor(cursor),
      owner: customer === undefined ? (owner ?? null) : { id: customer },
    }
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listDestinations(db, { ...ctx, ...asked, limit: most }),
    })
    return { destinations: rows.map((row) => presentDestination(ctx, row)), next_cursor }
  },

  create,

  get: async (ctx, { id }) => {
    const row = await findDestination(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { destination: presentDestination(ctx, row) }
  },

  update,

  remove: (ctx, { id }) => removeDestination(ctx, id),

  revealSecret,
  rotateSecret,
  recover,
  test,
  probe,
  health,
}
