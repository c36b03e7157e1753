import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'

/**
 * Refuses a URL that a destination of a customer may not have: https only, and only addresses that customers may reach, whatever
 * OUTBOUND_ALLOW opens for the destinations of the project.
 */
export function checkCustomerUrl(ctx: Pick<Ctx, 'validateCustomerUrl'>, url: string): void {
  const why = ctx.validateCustomerUrl(url)
  if (why !== undefined) throw refuse('invalid_url', why)
  if (URL.parse(url)?.protocol !== 'https:')
    throw refuse('invalid_url', 'Customer destinations accept only https URLs; use https.')
}
