import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { ListQuery, listOf, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const AI_RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'] as const

export const AiRun = z.object({
  id: idOutput('aiRun'),
  agent_id: idOutput('aiAgent'),
  trigger_id: idOutput('aiTrigger').nullable(),
  instance_id: idOutput('workflowInstance').nullable().describe('The workflow instance with the step that started it.'),
  step_id: z.string().nullable(),
  record_id: idOutput('record'),
  dataset: z.string(),
  state: z.enum(AI_RUN_STATES),
  paused: z.boolean().describe('The workspace is suspended or closed. The run continues afterwards.'),
  attempt: z.int(),
  next_attempt_at: Timestamp.nullable(),
  output: z.unknown().describe('The object of the output schema, or text; null: none yet.'),
  error: z
    .object({ reason: z.string(), error: z.string() })
    .nullable()
    .describe('The reason why the run failed or was skipped, or why its last try failed.'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: z.number().nullable().describe('In the currency of the prices of the agent; null: the agent has no prices.'),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})

const Step = z.object({
  seq: z.int(),
  kind: z.enum(['model', 'tool']),
  tool: z.string().nullable(),
  input: z.unknown().describe('The arguments of a tool; null: a call of the model.'),
  output: z.unknown().describe('The answer of the model or the tool. Long ones are cut off.'),
  error: z.string().nullable(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  at: Timestamp,
})

const at = z.object({ id: idInput('aiRun') })
const one = z.object({ ai_run: AiRun })

export const aiRuns = {
  search: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/ai-runs',
    summary: 'Search AI runs',
    description: 'The runs of agents in the project, newest first, with filters.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      agent_id: idInput('aiAgent').optional(),
      trigger_id: idInput('aiTrigger').optional(),
      record_id: idInput('record').optional(),
      state: z.enum(AI_RUN_STATES).optional(),
      ...TimeRange,
    }),
    output: listOf('ai_runs', AiRun),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ai-runs/{id}',
    summary: 'Get an AI run',
    description: 'One run, with every call of the model and of a tool.',
    ...READ,
    status: 200,
    params: at,
    output: z.object({ ai_run: AiRun.extend({ steps: z.array(Step) }) }),
  }),
  cancel: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ai-runs/{id}/cancel',
    summary: 'Cancel an AI run',
    description:
      'Ends the run, and discards the answer of a model call that is under way. Records that its tools made stay.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  retry: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ai-runs/{id}/retry',
    summary: 'Try an AI run again',
    description: 'Continues a run that failed, was cancelled or was skipped, from its last complete step.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
