import type { UseQueryResult } from '@tanstack/react-query'
import type { RouteAnswer, Routes } from '@postroad/contract'
import { useAsk } from '../../../data/ask.ts'

export type Agent = RouteAnswer<Routes['connectedAgents']['list']>['agents'][number]
export type Scope = Agent['scope']

/** The list is read periodically, because agents call without a change by a person. */
const CALLS_MS = 10_000

/** Every agent that the person may see, page after page. */
export function useAllAgents(): UseQueryResult<readonly Agent[]> {
  return useAsk(
    ['connectedAgents', 'all'],
    async (client, signal) => {
      const found: Agent[] = []
      for await (const agent of client.connectedAgents.list({ limit: 200 }, { signal })) found.push(agent)
      return found
    },
    { everyMs: CALLS_MS },
  )
}

type Rung = {
  readonly scope: Scope
  readonly label: string
  readonly text: string
  readonly role: Agent['connected_by']['role']
}

/** The ladder of scopes. A higher one includes the lower ones. */
export const LADDER: readonly [Rung, Rung, Rung] = [
  { scope: 'service:read', label: 'Read', text: 'View endpoints, events, deliveries and settings.', role: 'viewer' },
  {
    scope: 'service:write',
    label: 'Read and write',
    text: 'Also create, change and delete project resources, and replay deliveries.',
    role: 'developer',
  },
  {
    scope: 'service:manage',
    label: 'Manage',
    text: 'Also use admin functions: audit log, exports and network access.',
    role: 'admin',
  },
]

export const labelOf = (scope: string): string => LADDER.find((rung) => rung.scope === scope)?.label ?? scope
export const isAbove = (a: Scope, b: Scope): boolean => rankOf(a) > rankOf(b)

function rankOf(scope: Scope): number {
  return LADDER.findIndex((rung) => rung.scope === scope)
}

const ENDS: Readonly<Record<NonNullable<Agent['revoked_by']>, string>> = {
  person: 'Revoked by a person.',
  client: 'Signed out by the program.',
  left_workspace: 'The person who connected it left the workspace.',
  token_reused: 'Its refresh token was used twice, so someone may have stolen it. Connect the agent again.',
}

export const endOf = ({ revoked_by: by }: Agent): string | undefined => (by === null ? undefined : ENDS[by])

const REFUSALS: Readonly<Record<string, string>> = {
  agent_scope_insufficient: 'beyond its access',
  insufficient_role: 'beyond the person’s role',
  agent_not_permitted: 'not allowed for agents',
}

export const refusalText = (reason: string): string => REFUSALS[reason] ?? reason
