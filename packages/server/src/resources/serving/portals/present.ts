import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { PortalRow } from './queries.ts'

/** The page of a portal. */
export function portalUrl({ baseUrl }: Pick<Ctx, 'baseUrl'>, id: string): string {
  return `${baseUrl()}/portal/${encodeId('portal', id)}`
}

/** Row → public shape. The contract shows `event_types` and `branding` as text, and `enabled` as a number. */
export function presentPortal(ctx: Pick<Ctx, 'baseUrl'>, row: PortalRow) {
  return {
    id: encodeId('portal', row.id),
    name: row.name,
    slug: row.slug,
    event_types: JSON.stringify(row.event_types),
    branding: JSON.stringify(row.branding),
    enabled: row.enabled ? 1 : 0,
    datasets: row.event_types === null ? null : [...row.event_types],
    looks: row.branding,
    serves: row.serves,
    frame_origins: [...row.frame_origins],
    url: portalUrl(ctx, row.id),
    customer_count: row.customer_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
