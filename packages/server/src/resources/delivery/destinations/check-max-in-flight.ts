import type { Ctx } from '../../../context.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findWorkspace } from '../../workspace/workspaces/index.ts'

/**
 * Refuses a `max_in_flight` above the limit of the plan. `accepted` is always accepted: the default of the kind, or the saved value, which
 * a form sends again with every change. Deliveries follow the plan all the same.
 */
export async function checkMaxInFlight(
  { db, plans, workspaceId }: Ctx,
  { asked, accepted }: { readonly asked: number | undefined; readonly accepted: number },
): Promise<void> {
  if (asked === undefined || asked <= accepted) return
  const workspace = await findWorkspace(db, workspaceId)
  const { max_in_flight: max } = limitsOf(plans, workspace?.plan ?? '')
  if (max === null || asked <= max) return
  throw refuse(
    'invalid_request',
    `max_in_flight is ${asked}, and the plan of the workspace allows at most ${max}. Send at most ${max}, or move to a larger plan.`,
  )
}
