import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findLimits } from '../../workspace/usage/index.ts'

/**
 * Refuses a `max_in_flight` above the limit of the plan. `accepted` is always accepted: the default of the kind, or the saved value, which
 * a form sends again with every change. Deliveries follow the plan all the same.
 */
export async function checkMaxInFlight(
  ctx: Ctx,
  { asked, accepted }: { readonly asked: number | undefined; readonly accepted: number },
): Promise<void> {
  if (asked === undefined || asked <= accepted) return
  const { max_in_flight: max } = await findLimits(ctx)
  if (max === null || asked <= max) return
  throw refuse(
    'invalid_request',
    `max_in_flight is ${asked}, and the plan of the workspace allows at most ${max}. Send at most ${max}, or move to a larger plan.`,
  )
}
