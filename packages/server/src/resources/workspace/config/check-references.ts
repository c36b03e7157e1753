import { refuse } from '../../../domain/refusal.ts'
import type { ReadConfig } from './read-config.ts'
import { namedIn } from './references.ts'
import type { State } from './state.ts'

type Named = { readonly entry: { readonly name: string; readonly transform?: string | null } }
type Unchanged = { readonly unchanged: readonly { readonly identity: string; readonly now: Named }[] }
type Steps = Unchanged & {
  readonly create: readonly Named[]
  readonly change: readonly Named[]
  readonly rest: readonly { readonly now: Named }[]
  readonly unmanaged: readonly Named[]
}
type Planned = {
  readonly state: State
  readonly plan: {
    readonly transforms: Steps
    readonly destinations: Steps
    readonly workflows: Unchanged
    readonly triggers: Unchanged
  }
}

/**
 * Workflows and triggers may name only items that exist after the plan. An unchanged one may also name an item that is already
 * missing, as its export does: the plan does not write it.
 */
export function checkReferences(config: ReadConfig, { state, plan }: Planned): void {
  const { transforms, destinations, workflows, triggers } = plan
  const known = {
    destination: namesAfter(destinations),
    transform: namesAfter(transforms),
    agent: new Set(state.agents),
  }
  const before = {
    destination: new Set(state.destinations.map(({ entry }) => entry.name)),
    transform: new Set(state.transforms.map(({ entry }) => entry.name)),
    agent: known.agent,
  }
  const unchanged = {
    workflows: new Set(workflows.unchanged.map(({ identity }) => identity)),
    triggers: new Set(triggers.unchanged.map(({ identity }) => identity)),
  }
  const named = [
    ...destinationsAfter(config, destinations),
    ...(config.workflows ?? []).flatMap(({ name, steps }, index) =>
      namedIn(steps, `config.workflows[${index}].steps`).map((one) => ({
        ...one,
        isWritten: !unchanged.workflows.has(name),
      })),
    ),
    ...(config.triggers ?? []).map(({ name, agent }, index) => ({
      place: `config.triggers[${index}].agent`,
      kind: 'agent' as const,
      name: agent,
      isWritten: !unchanged.triggers.has(name),
    })),
  ]
  const missing = named.find(
    ({ kind, name, isWritten }) => !known[kind].has(name) && (isWritten || before[kind].has(name)),
  )
  if (missing === undefined) return
  const word = missing.kind === 'agent' ? 'AI agent' : missing.kind
  const remedy = missing.kind === 'agent' ? 'Create it first' : 'Add it to the configuration'
  throw refuse(
    'invalid_request',
    `${missing.place}: the project would have no ${word} "${missing.name.slice(0, 120)}". ${remedy}, or correct the name.`,
  )
}

const namesAfter = ({ create, change, unchanged, rest, unmanaged }: Steps): ReadonlySet<string> =>
  new Set([
    ...[...create, ...change].map(({ entry }) => entry.name),
    ...[...unchanged, ...rest].map(({ now }) => now.entry.name),
    ...unmanaged.map(({ entry }) => entry.name),
  ])

/** The transforms of all destinations after the plan, each with its place. */
function destinationsAfter({ destinations = [] }: ReadConfig, { rest, unmanaged }: Steps) {
  const kept = [...rest.map(({ now }) => now), ...unmanaged].map(({ entry }) => ({
    place: `the destination "${entry.name}"`,
    transform: entry.transform,
  }))
  const sent = destinations.map(({ transform }, index) => ({
    place: `config.destinations[${index}].transform`,
    transform,
  }))
  return [...sent, ...kept].flatMap(({ place, transform }) =>
    typeof transform === 'string' ? [{ place, kind: 'transform' as const, name: transform, isWritten: true }] : [],
  )
}

/** No two workflows may have the same name, because the name identifies a workflow in a configuration. */
export function checkNamesOnce({ workflows }: State): void {
  const seen = new Set<string>()
  for (const { entry } of workflows) {
    if (seen.has(entry.name))
      throw refuse(
        'invalid_request',
        `config.workflows: the project has two workflows with the name "${entry.name}", and a configuration identifies a workflow by its name. Rename one of them.`,
      )
    seen.add(entry.name)
  }
}
