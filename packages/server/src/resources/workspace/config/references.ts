import { decodeId, encodeId, type IdKind, type Step } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { listAgentNames } from '../../automation/ai-agents/index.ts'
import { listDestinationNames } from '../../delivery/destinations/index.ts'

/** Workflows and triggers name destinations and agents: by id in a project, and by name in a configuration. */

type Named = readonly { readonly id: string; readonly name: string }[]
export type References = { readonly destinations: Named; readonly agents: Named }

export async function readReferences(ctx: Ctx): Promise<References> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId, ids: null }
  const [destinations, agents] = [await listDestinationNames(ctx.db, at), await listAgentNames(ctx.db, at)]
  return { destinations, agents }
}

type Rename = { readonly destination: (name: string) => string; readonly agent: (name: string) => string }

/** Steps with other names for their destinations and agents, also inside of branches. */
export function renamed(steps: readonly Step[], to: Rename): Step[] {
  return steps.map((step): Step => {
    switch (step.type) {
      case 'deliver':
        return { ...step, destination: to.destination(step.destination) }
      case 'run_agent':
        return { ...step, agent: to.agent(step.agent) }
      case 'branch':
        return {
          ...step,
          branches: step.branches.map((branch) => ({ ...branch, steps: renamed(branch.steps, to) })),
          ...(step.else === undefined ? {} : { else: renamed(step.else, to) }),
        }
      case 'delay':
      case 'wait_for_event':
      case 'emit_event':
        return step
    }
  })
}

/** From ids to names. A deleted destination or agent stays an id. */
export function namesFor({ destinations, agents }: References): Rename {
  return { destination: nameOf('destination', destinations), agent: nameOf('aiAgent', agents) }
}

function nameOf(kind: IdKind, named: Named): (id: string) => string {
  const names = new Map(named.map(({ id, name }) => [encodeId(kind, id), name]))
  return (id) => names.get(id) ?? id
}

/** From names to ids. An unknown name stays as it is, and the room refuses it. */
export function idsFor({ destinations, agents }: References): Rename {
  return { destination: idOf('destination', destinations), agent: idOf('aiAgent', agents) }
}

function idOf(kind: IdKind, named: Named): (name: string) => string {
  const ids = new Map(named.map(({ id, name }) => [name, encodeId(kind, id)]))
  return (name) => ids.get(name) ?? name
}

/** The id of an agent by its name; undefined: there is none. */
export function agentIdOf({ agents }: References, name: string): string | undefined {
  const found = agents.find((agent) => agent.name === name)
  return found?.id ?? decodeId('aiAgent', name)
}

/** Every name of a destination or an agent in steps, with its place. */
export function namedIn(
  steps: readonly Step[],
  place: string,
): readonly { readonly place: string; readonly kind: 'destination' | 'agent'; readonly name: string }[] {
  return steps.flatMap((step, index) => {
    const at = `${place}[${index}]`
    if (step.type === 'deliver')
      return [{ place: `${at}.destination`, kind: 'destination' as const, name: step.destination }]
    if (step.type === 'run_agent') return [{ place: `${at}.agent`, kind: 'agent' as const, name: step.agent }]
    if (step.type !== 'branch') return []
    return [
      ...step.branches.flatMap((branch, one) => namedIn(branch.steps, `${at}.branches[${one}].steps`)),
      ...namedIn(step.else ?? [], `${at}.else`),
    ]
  })
}
