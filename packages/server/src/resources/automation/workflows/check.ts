import type { Conditions, Step } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { checkDefinition } from '../../../domain/automation/definition.ts'
import { refuse } from '../../../domain/refusal.ts'
import { checkConditions } from '../../check-conditions.ts'
import { listDestinationNames } from '../../delivery/destinations/index.ts'

/** Refuses steps that cannot run. Returns the destinations that they name, each with its place. */
export function checkSteps(steps: readonly Step[]): readonly { readonly place: string; readonly id: string }[] {
  const checked = checkDefinition(steps)
  if ('error' in checked) throw refuse('invalid_request', checked.error)
  return checked.destinations
}

/** Refuses a definition that cannot run in this project. */
export async function checkWorkflow(
  ctx: Ctx,
  { entry_conditions, steps }: { readonly entry_conditions: Conditions; readonly steps: readonly Step[] },
): Promise<void> {
  checkConditions(entry_conditions, 'entry_conditions')
  const named = checkSteps(steps)
  const found = await listDestinationNames(ctx.db, { ...ctx, ids: named.map(({ id }) => id) })
  const known = new Set(found.map(({ id }) => id))
  const missing = named.find(({ id }) => !known.has(id))
  if (missing !== undefined)
    throw refuse(
      'invalid_request',
      `${missing.place}: this project has no destination with this id. Send the id of one of its destinations.`,
    )
}
