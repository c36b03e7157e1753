import { decodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { portalCustomers } from '../../serving/portal-customers/index.ts'
import { portals } from '../../serving/portals/index.ts'
import { portalTokens } from '../../serving/portal-tokens/index.ts'
import { inProjects, inside, listed, type Lines } from './lines.ts'

/** Portals with their customers, and their tokens without the tokens themselves. */
export const PORTAL_LINES = {
  portals: inProjects((ctx) =>
    listed(
      (page) => portals.list(ctx, { ...page, slug: undefined }),
      (answer) => answer.portals.map(inside(ctx)),
    ),
  ),
  portal_customers: inProjects((ctx) =>
    ofPortals(ctx, (id) =>
      listed(
        (page) => portalCustomers.list(ctx, { ...page, id, customer_id: undefined }),
        (answer) => answer.customers.map(inside(ctx)),
      ),
    ),
  ),
  portal_tokens: inProjects((ctx) =>
    ofPortals(ctx, (id) =>
      listed(
        (page) => portalTokens.list(ctx, { ...page, id, customer: undefined }),
        (answer) => answer.portal_tokens.map(inside(ctx)),
      ),
    ),
  ),
}

async function* ofPortals(ctx: Ctx, linesOf: (id: string) => Lines): Lines {
  for (let cursor: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
    const page = await portals.list(ctx, { limit: LIMITS.listLimitMax, cursor, slug: undefined })
    for (const id of page.portals.flatMap((portal) => decodeId('portal', portal.id) ?? [])) yield* linesOf(id)
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}
