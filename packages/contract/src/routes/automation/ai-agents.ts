import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Text, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

/** The tools that an agent may have. Each acts in the project of the agent, with the rights of its creator. */
export const AGENT_TOOLS = ['list_datasets', 'search_records', 'get_record', 'emit_event'] as const
export type AgentTool = (typeof AGENT_TOOLS)[number]

const Tools = z.array(z.enum(AGENT_TOOLS)).max(AGENT_TOOLS.length)
const Price = z.number().min(0).max(1_000_000)
const Model = Text.min(1).max(LIMITS.aiModelCharsMax)
const Instructions = Text.min(1).max(LIMITS.agentInstructionsCharsMax)
const Schema = z
  .record(z.string(), z.unknown())
  .describe('A JSON Schema of an object: types, properties, items, enum and bounds. No references and no patterns.')
const MaxSteps = z.int().min(1).max(LIMITS.agentStepsMax).describe('The maximum number of model calls in a run.')
const Timeout = z
  .int()
  .min(1)
  .max(LIMITS.agentTimeoutSecondsMax)
  .describe('The timeout of one run attempt, in seconds.')
const OutputTokens = z
  .int()
  .min(1)
  .max(LIMITS.agentOutputTokensMax)
  .describe('The maximum number of tokens in one model response.')
const MonthlyTokens = z
  .int()
  .min(1)
  .max(LIMITS.agentTokensPerMonthMax)
  .nullable()
  .describe(
    'Input and output tokens of all runs in a month (UTC). Postroad skips runs above the limit. Null: no limit.',
  )

const prices = {
  input_price: Price.nullable().describe(
    'The input token price per million tokens, in your currency. Null: the cost is unknown.',
  ),
  output_price: Price.nullable().describe('The output token price per million tokens.'),
}

export const AiAgent = z.object({
  id: idOutput('aiAgent'),
  name: z.string(),
  provider_id: idOutput('aiProvider'),
  model: z.string().nullable().describe('Null: the default model of the provider.'),
  instructions: z.string(),
  tools: Tools,
  output_schema: Schema.nullable(),
  max_steps: MaxSteps,
  timeout_seconds: Timeout,
  max_output_tokens: OutputTokens,
  monthly_tokens: MonthlyTokens,
  ...prices,
  tokens_this_month: z.int(),
  created_by: idOutput('user').nullable().describe('The person whose permissions its tools use.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('aiAgent') })
const one = z.object({ ai_agent: AiAgent })

export const aiAgents = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ai-agents',
    summary: 'List AI agents',
    description: 'The agents of the project, newest first.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('ai_agents', AiAgent),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ai-agents',
    summary: 'Create an AI agent',
    description:
      'An agent is a model with instructions, tools and limits. Triggers and workflows run it on records. The record is data for it, never instructions. ' +
      'Its tools use the current permissions of its creator, and never more.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      provider_id: idInput('aiProvider'),
      model: Model.nullable().default(null),
      instructions: Instructions,
      tools: Tools.default([]),
      output_schema: Schema.nullable().default(null),
      max_steps: MaxSteps.default(LIMITS.agentStepsDefault),
      timeout_seconds: Timeout.default(LIMITS.agentTimeoutSecondsDefault),
      max_output_tokens: OutputTokens.default(LIMITS.agentOutputTokensDefault),
      monthly_tokens: MonthlyTokens.default(null),
      input_price: Price.nullable().default(null),
      output_price: Price.nullable().default(null),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ai-agents/{id}',
    summary: 'Get an AI agent',
    description: 'One agent of the project, with its tokens of this month.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'ai-agents/{id}',
    summary: 'Change an AI agent',
    description:
      'Updates only the fields that you send. Runs in progress use the change from their next model call. The person who changes the agent becomes its creator, and its tools use that person’s permissions.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      provider_id: idInput('aiProvider').optional(),
      model: Model.nullable().optional(),
      instructions: Instructions.optional(),
      tools: Tools.optional(),
      output_schema: Schema.nullable().optional(),
      max_steps: MaxSteps.optional(),
      timeout_seconds: Timeout.optional(),
      max_output_tokens: OutputTokens.optional(),
      monthly_tokens: MonthlyTokens.optional(),
      input_price: Price.nullable().optional(),
      output_price: Price.nullable().optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'ai-agents/{id}',
    summary: 'Delete an AI agent',
    description:
      'Deletes the agent. Refused while a trigger uses it. Its runs are stored until their retention expires.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
