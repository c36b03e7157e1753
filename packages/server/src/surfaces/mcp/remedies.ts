import type { Reason } from '@postroad/contract'
import type { PreparedTool } from './prepared.ts'

/** The tools that list the things with these ids. */
const FINDERS: Readonly<Record<string, string>> = {
  endpoint: 'endpoints_list',
  rule: 'rules_list',
  destination: 'destinations_list',
  delivery: 'deliveries_search',
  deliveries: 'deliveries_search',
  event: 'events_search',
  dataset: 'datasets_list',
}

/** The next step of a model after a refusal, where the sentence of the refusal does not name a tool. */
export function remedyFor(reason: Reason, { tool }: PreparedTool): string | undefined {
  const finder = FINDERS[tool.name.split('_')[0] ?? '']
  if (reason === 'not_found' && finder !== undefined) return `Call ${finder} to find the id.`
  return REMEDIES[reason]
}

const REMEDIES: Partial<Record<Reason, string>> = {
  not_found: 'Call whoami and projects_list to see which projects there are.',
  invalid_request: 'Correct the argument that the error names, and call the tool again.',
  insufficient_role: 'Do not repeat the call. Report to the user that this credential has a lower role.',
  agent_not_permitted: 'Do not repeat the call. Ask the user to do it in the console.',
  agent_scope_insufficient:
    'Ask the user to open manage_url and widen the access of this agent, then call the tool again.',
  workspace_suspended:
    'Do not repeat the call. Reading tools still work; report to the user that the workspace is suspended.',
  invalid_state: 'Read the current state, then choose another action.',
}
