import type { AgentTool } from '@postroad/contract'
import { roleReaches } from '../../domain/people/actor.ts'
import { secretPlace } from '../../resources/secret-place.ts'
import type { OutputSchema } from '../../domain/automation/ai/output-schema.ts'
import { findAgentForRun, type AgentForRun } from '../../resources/automation/ai-agents/queries.ts'
import type { ClaimedRun, RunError } from '../../resources/automation/ai-runs/queries.ts'
import { findTrigger } from '../../resources/automation/triggers/queries.ts'
import { findPayload } from '../../resources/capture/payloads/queries.ts'
import { findMember } from '../../resources/people/users/queries.ts'
import type { OpenProvider } from './model.ts'
import type { AgentDeps } from './ports.ts'

/** Everything that a run needs, as it is at this moment. */
export type OpenRun = {
  readonly provider: OpenProvider
  readonly instructions: string
  /** The tools of the agent that its creators may still use. */
  readonly tools: readonly AgentTool[]
  readonly schema: OutputSchema | null
  readonly maxSteps: number
  readonly timeoutMs: number
  readonly maxOutputTokens: number
  readonly prices: { readonly input: number; readonly output: number } | undefined
  /** JSON text. */
  readonly input: string
  readonly outputDataset: string | null
}

type Skipped = { readonly skipped: RunError }

const skipped = (reason: string, error: string): Skipped => ({ skipped: { reason, error } })

/** The step of a workflow may replace settings of the agent. */
type Request = {
  readonly input?: unknown
  readonly output_schema?: OutputSchema
  readonly max_steps?: number
  readonly timeout_seconds?: number
}

export async function openRun(deps: AgentDeps, run: ClaimedRun): Promise<OpenRun | Skipped> {
  const at = { workspaceId: run.workspace_id, projectId: run.project_id }
  const { database: db } = deps
  const [agent, trigger] = await Promise.all([
    findAgentForRun(db, { ...at, id: run.agent_id, now: new Date(deps.clock.now()) }),
    run.trigger_id === null ? Promise.resolve(undefined) : findTrigger(db, { ...at, id: run.trigger_id }),
  ])
  if (agent === undefined) return skipped('agent_deleted', 'The agent of this run no longer exists.')
  if (run.trigger_id !== null && trigger === undefined)
    return skipped('trigger_deleted', 'The trigger of this run was deleted while the run was waiting.')
  const creators = [agent.created_by, ...(trigger === undefined ? [] : [trigger.created_by])]
  const rights = await rightsOf(deps, at.workspaceId, creators)
  const outputDataset = trigger?.output_dataset ?? null
  const why = whyNot(agent, { rights, outputDataset })
  if (why !== undefined) return why
  const input = await inputOf(deps, run)
  if (input === undefined) return skipped('record_deleted', 'The record of this run is no longer stored.')
  return {
    ...settingsOf(agent, run),
    provider: openProvider(deps, agent),
    instructions: agent.instructions,
    tools: agent.tools.filter((tool) => tool !== 'emit_event' || rights === 'write'),
    maxOutputTokens: agent.max_output_tokens,
    prices: pricesOf(agent),
    input,
    outputDataset,
  }
}

type Rights = 'none' | 'read' | 'write'

function whyNot(
  { monthly_tokens: cap, tokens_this_month: used }: AgentForRun,
  { rights, outputDataset }: { readonly rights: Rights; readonly outputDataset: string | null },
): Skipped | undefined {
  if (rights === 'none')
    return skipped(
      'creator_left',
      'The person who created the agent or its trigger is no longer a member. Save it again as a member.',
    )
  if (cap !== null && used >= cap)
    return skipped(
      'token_cap_reached',
      'The agent has used its monthly tokens. Raise the limit, or wait until next month.',
    )
  if (outputDataset !== null && rights !== 'write')
    return skipped('creator_may_not_write', 'The creator of the agent or its trigger now has read-only access.')
  return undefined
}

function openProvider({ cipher }: AgentDeps, { provider, model }: AgentForRun): OpenProvider {
  const { id, kind, base_url, api_key: sealed, default_model, structured_outputs } = provider
  return {
    kind,
    base_url,
    structured_outputs,
    model: model ?? default_model,
    apiKey: sealed === null ? undefined : cipher.open(sealed, secretPlace('ai_providers.api_key', id)).reveal(),
  }
}

/** The settings of the agent that the step of a workflow may replace. */
function settingsOf(agent: AgentForRun, { request }: ClaimedRun): Pick<OpenRun, 'schema' | 'maxSteps' | 'timeoutMs'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the workflow engine
  const { output_schema: schema, max_steps: maxSteps, timeout_seconds: seconds } = (request ?? {}) as Request
  return {
    schema: schema ?? agent.output_schema,
    maxSteps: maxSteps ?? agent.max_steps,
    timeoutMs: (seconds ?? agent.timeout_seconds) * 1_000,
  }
}

function pricesOf({ input_price: input, output_price: output }: AgentForRun): OpenRun['prices'] {
  return input === null || output === null ? undefined : { input, output }
}

/** The rights that all creators have at this moment. */
async function rightsOf(
  { database }: AgentDeps,
  workspaceId: string,
  creators: readonly (string | null)[],
): Promise<Rights> {
  const members = await Promise.all(
    creators.map((userId) =>
      userId === null ? Promise.resolve(undefined) : findMember(database, { workspaceId, userId }),
    ),
  )
  if (members.some((member) => member === undefined)) return 'none'
  return members.every((member) => member !== undefined && roleReaches(member.role, 'developer')) ? 'write' : 'read'
}

/** The input that the workflow step rendered, or the record. */
async function inputOf({ database }: AgentDeps, run: ClaimedRun): Promise<string | undefined> {
  if (run.request !== null) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the workflow engine
    return JSON.stringify((run.request as Request).input ?? null)
  }
  const at = { workspaceId: run.workspace_id, projectId: run.project_id }
  const record = await findPayload(database, { ...at, id: run.record_id })
  return record === undefined
    ? undefined
    : `{"dataset":${JSON.stringify(record.dataset)},"received_at":"${record.received_at.toISOString()}","data":${record.data}}`
}
