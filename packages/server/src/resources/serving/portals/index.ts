import { encodeId, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { findPublicSuffix } from '../../../domain/public-suffix.ts'
import { inTransaction } from '../../../transaction.ts'
import { removeDestination } from '../../delivery/destinations/index.ts'
import { insertUnderFreeSlug } from '../../free-slug.ts'
import { afterCursor, readPage } from '../../page.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged, lockProject } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { presentPortal } from './present.ts'
import {
  countPortals,
  deletePortal,
  findPortal,
  insertPortal,
  isPortalSlugTaken,
  listOwnedDestinations,
  listPortals,
  updatePortal,
  type PortalRow,
} from './queries.ts'

export { portalUrl } from './present.ts'
export { findPortal, findPublicPortal, type PortalRow, type PublicPortalRow } from './queries.ts'

export const portals: Room<'portals'> = {
  list: async (ctx, { limit, cursor, slug }) => {
    const asked = { ...ctx, slug: slug ?? null, before: afterCursor(cursor) }
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listPortals(db, { ...asked, limit: most }),
    })
    return { portals: rows.map((row) => presentPortal(ctx, row)), next_cursor }
  },

  create: (ctx, { slug: asked, ...settings }) =>
    inTransaction(ctx, async (tx) => {
      await checkFrameOrigins(settings.frame_origins)
      await lockProject(tx.db, tx)
      if ((await countPortals(tx.db, tx)) >= LIMITS.portalsPerProjectMax) throw refuse('portal_limit_reached')
      const id = tx.uuid()
      const now = new Date(tx.clock.now())
      const row = await insertUnderFreeSlug(tx, {
        slug: asked,
        name: settings.name,
        fallback: 'portal',
        insert: (slug) => insertPortal(tx.db, { ...tx, ...settings, id, slug, now }),
      })
      const portal = presentPortal(tx, row)
      await audit(tx, {
        action: 'create_portal',
        target: portal.id,
        details: { name: row.name },
        change: { before: null, after: portal },
      })
      return { portal }
    }),

  get: async (ctx, { id }) => {
    const row = await findPortal(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { portal: presentPortal(ctx, row) }
  },

  update: (ctx, { id, ...given }) =>
    inTransaction(ctx, async (tx) => {
      await checkFrameOrigins(given.frame_origins ?? [])
      const held = await findPortal(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      if (given.serves === 'one_customer' && held.customer_count > 1) throw refuse('invalid_state', TOO_MANY_CUSTOMERS)
      if (given.slug !== undefined && given.slug !== held.slug)
        if (await isPortalSlugTaken(tx.db, { ...tx, slug: given.slug })) throw refuse('slug_taken')
      const row = await updatePortal(tx.db, { ...tx, ...changed(held, given), now: new Date(tx.clock.now()) })
      if (row === undefined) throw refuse('not_found')
      await audit(tx, {
        action: 'update_portal',
        target: encodeId('portal', id),
        details: { changed: Object.keys(given) },
        change: { before: presentPortal(tx, held), after: presentPortal(tx, row) },
      })
      // The destinations of its customers receive other datasets now.
      if (given.event_types !== undefined) await configChanged(tx)
      return { portal: presentPortal(tx, row) }
    }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findPortal(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const most = LIMITS.customerDestinationsDeletedMax
      const owned = await listOwnedDestinations(tx.db, { ...tx, portalId: id, limit: most + 1 })
      if (owned.length > most)
        throw refuse(
          'invalid_state',
          `The customers of this portal have more than ${most} destinations. ${DELETE_FIRST}`,
        )
      // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
      for (const destination of owned) await removeDestination(tx, destination.id)
      await deletePortal(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_portal',
        target: encodeId('portal', id),
        details: { name: held.name, customers: held.customer_count, destinations: owned.length },
        change: { before: presentPortal(tx, held), after: null },
      })
      return { ok: true }
    }),
}

const belowOf = (origin: string): string => /^https:\/\/\*\.([^:]+)/.exec(origin)?.[1] ?? ''

/** A wildcard directly below a public suffix would let the pages of strangers embed the portal. */
async function checkFrameOrigins(origins: readonly string[]): Promise<void> {
  const suffix = await findPublicSuffix(origins.map(belowOf).filter((host) => host !== ''))
  const open = origins.find((origin) => belowOf(origin) === suffix)
  if (open === undefined) return
  throw refuse(
    'invalid_request',
    `frame_origins: anyone can register a name below "${belowOf(open)}", so "${open}" would let any site embed the portal. Name your own domain, such as https://*.example.com.`,
  )
}

const TOO_MANY_CUSTOMERS =
  'This portal has more than one customer, so it cannot become a portal for one. Delete all customers except one first.'
const DELETE_FIRST = 'Delete some of its customers first.'

function changed(held: PortalRow, given: Omit<RouteInput<Routes['portals']['update']>, 'id'>) {
  return {
    id: held.id,
    name: given.name ?? held.name,
    slug: given.slug ?? held.slug,
    event_types: given.event_types === undefined ? held.event_types : given.event_types,
    branding: given.branding ?? held.branding,
    enabled: given.enabled ?? held.enabled,
    serves: given.serves ?? held.serves,
    frame_origins: given.frame_origins ?? held.frame_origins,
  }
}
