import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { OutputConditions } from '../../condition-query.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
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
  paused: z
    .boolean()
    .describe('The workspace is suspended or closed. The run continues when the workspace is active again.'),
  attempt: z.int(),
  next_attempt_at: Timestamp.nullable(),
  output: z.unknown().describe('The object of the output schema, or text; null: none yet.'),
  error: z
    .object({ reason: z.string(), error: z.string() })
    .nullable()
    .describe('The reason why the run failed or was skipped, or why its last attempt failed.'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: z.number().nullable().describe('In the currency of the agent’s token prices; null: the agent has no prices.'),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})

const Step = z.object({
  seq: z.int(),
  kind: z.enum(['model', 'tool']),
  tool: z.string().nullable(),
  input: z.unknown().describe('The tool arguments; null: a model call.'),
  output: z.unknown().describe('The response of the model or the tool. Long responses are truncated.'),
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
    description:
      'The runs of agents in the project, newest first, with filters. With `q` or `f`, one call searches for at most 2 seconds, so a page may contain fewer runs than the limit, or none. Continue with next_cursor until it is null.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      agent_id: idInput('aiAgent').optional(),
      trigger_id: idInput('aiTrigger').optional(),
      record_id: idInput('record').optional(),
      state: z.enum(AI_RUN_STATES).optional(),
      q: Text.min(1)
        .max(LIMITS.searchTextCharsMax)
        .optional()
        .describe('Text that the output or the error contains, in upper or lower case.'),
      f: OutputConditions,
      ...TimeRange,
    }),
    output: listOf('ai_runs', AiRun).extend({
      scanned: z.int().describe('The number of runs that this call looked at.'),
    }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'ai-runs/{id}',
    summary: 'Get an AI run',
    description: 'One run, with every model call and tool call.',
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
      'Stops the run and discards the response of a model call in progress. Records that its tools created are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  retry: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'ai-runs/{id}/retry',
    summary: 'Retry an AI run',
    description: 'Continues a run that failed, was canceled or was skipped, from its last complete step.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
