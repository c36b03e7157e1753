import { AGENT_TOOLS, LIMITS, type AgentTool, type RouteRequest, type Routes } from '@postroad/contract'
import type { AiAgent } from '../../../data/automation-lists.ts'

export type AgentBody = RouteRequest<Routes['aiAgents']['create']>

export type AgentDraft = {
  readonly name: string
  readonly providerId: string
  readonly model: string
  readonly instructions: string
  readonly tools: readonly AgentTool[]
  readonly schema: string
  readonly maxSteps: string
  readonly timeoutSeconds: string
  readonly outputTokens: string
  readonly monthlyTokens: string
  readonly inputPrice: string
  readonly outputPrice: string
}

export const NEW_AGENT: AgentDraft = {
  name: '',
  providerId: '',
  model: '',
  instructions: '',
  tools: [],
  schema: '',
  maxSteps: String(LIMITS.agentStepsDefault),
  timeoutSeconds: String(LIMITS.agentTimeoutSecondsDefault),
  outputTokens: String(LIMITS.agentOutputTokensDefault),
  monthlyTokens: '',
  inputPrice: '',
  outputPrice: '',
}

export const TOOL_TEXTS: Readonly<Record<AgentTool, string>> = {
  list_datasets: 'List the project’s datasets',
  search_records: 'Search records',
  get_record: 'Read a record',
  emit_event: 'Store an event',
}

export const TOOLS: readonly AgentTool[] = AGENT_TOOLS

const textOf = (value: number | null): string => (value === null ? '' : String(value))

export function draftOfAgent(of: AiAgent): AgentDraft {
  return {
    name: of.name,
    providerId: of.provider_id,
    model: of.model ?? '',
    instructions: of.instructions,
    tools: of.tools,
    schema: of.output_schema === null ? '' : JSON.stringify(of.output_schema, null, 2),
    maxSteps: String(of.max_steps),
    timeoutSeconds: String(of.timeout_seconds),
    outputTokens: String(of.max_output_tokens),
    monthlyTokens: textOf(of.monthly_tokens),
    inputPrice: textOf(of.input_price),
    outputPrice: textOf(of.output_price),
  }
}

export function agentBodyOf(draft: AgentDraft): { readonly body: AgentBody } | { readonly problem: string } {
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.providerId === '') return { problem: 'Choose a provider.' }
  if (draft.instructions.trim() === '') return { problem: 'Enter instructions.' }
  const schema = schemaIn(draft.schema)
  if (schema === undefined) return { problem: 'The output schema is not a valid JSON object.' }
  return {
    body: {
      name: draft.name.trim(),
      provider_id: draft.providerId,
      model: draft.model.trim() === '' ? null : draft.model.trim(),
      instructions: draft.instructions,
      tools: [...draft.tools],
      output_schema: schema,
      max_steps: Number(draft.maxSteps),
      timeout_seconds: Number(draft.timeoutSeconds),
      max_output_tokens: Number(draft.outputTokens),
      monthly_tokens: numberIn(draft.monthlyTokens),
      input_price: numberIn(draft.inputPrice),
      output_price: numberIn(draft.outputPrice),
    },
  }
}

const numberIn = (text: string): number | null => (text.trim() === '' ? null : Number(text))

/** null: no schema; undefined: the text is not an object. */
function schemaIn(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === '') return null
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined
    return Object.fromEntries(Object.entries(read))
  } catch {
    return undefined
  }
}
