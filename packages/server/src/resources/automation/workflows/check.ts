import type { Conditions, Step } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { checkDefinition } from '../../../domain/automation/definition.ts'
import { refuse } from '../../../domain/refusal.ts'
import { checkConditions } from '../../check-conditions.ts'
import { listAgentNames } from '../ai-agents/index.ts'
import { listDestinationNames } from '../../delivery/destinations/index.ts'

type Named = readonly { readonly place: string; readonly id: string }[]

/** Refuses steps that cannot run. Returns the destinations and agents that they name, each with its place. */
export function checkSteps(steps: readonly Step[]): { readonly destinations: Named; readonly agents: Named } {
  const checked = checkDefinition(steps)
  if ('error' in checked) throw refuse('invalid_request', checked.error)
  return checked
}

/** Refuses a definition that cannot run in this project. */
export async function checkWorkflow(
  ctx: Ctx,
  { entry_conditions, steps }: { readonly entry_conditions: Conditions; readonly steps: readonly Step[] },
): Promise<void> {
  checkConditions(entry_conditions, 'entry_conditions')
  const { destinations, agents } = checkSteps(steps)
  const [foundDestinations, foundAgents] = await Promise.all([
    listDestinationNames(ctx.db, { ...ctx, ids: destinations.map(({ id }) => id) }),
    listAgentNames(ctx.db, { ...ctx, ids: agents.map(({ id }) => id) }),
  ])
  checkNamed('destination', destinations, foundDestinations)
  checkNamed('AI agent', agents, foundAgents)
}

// oxlint-disable-next-line max-params -- the kind, its places, and those of them that exist
function checkNamed(kind: string, named: Named, found: readonly { readonly id: string }[]): void {
  const known = new Set(found.map(({ id }) => id))
  const missing = named.find(({ id }) => !known.has(id))
  if (missing !== undefined)
    throw refuse(
      'invalid_request',
      `${missing.place}: this project has no ${kind} with this id. Send the id of one of its ${kind}s.`,
    )
}
