import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { STEP_TYPES } from '../../workflow-steps.ts'

export const STORED_INSTANCE_STATES = [
  'pending',
  'running',
  'sleeping',
  'waiting',
  'retrying',
  'completed',
  'failed',
  'cancelled',
] as const
/** The API shows `paused` while the workspace is suspended or closed. The stored state continues afterwards. */
export const INSTANCE_STATES = [...STORED_INSTANCE_STATES, 'paused'] as const

const StepError = z.object({ step_id: z.string().optional(), reason: z.string(), message: z.string() })

const until = Timestamp.nullable()
const WaitsFor = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('time'), until }),
  z.object({ kind: z.literal('retry'), until }),
  z.object({
    kind: z.literal('event'),
    dataset: z.string(),
    conditions: z.array(z.record(z.string(), z.unknown())).describe('The conditions with their templates rendered.'),
    until,
  }),
  z.object({ kind: z.literal('delivery'), id: idOutput('delivery') }),
  z.object({ kind: z.literal('ai_run'), id: idOutput('aiRun') }),
])

export const WorkflowInstance = z.object({
  id: idOutput('workflowInstance'),
  workflow_id: idOutput('workflow'),
  workflow: z.string().nullable().describe('The name of the workflow; null: it was deleted.'),
  version: z.int().describe('The version that this instance runs. A later replacement does not change it.'),
  record_id: idOutput('record').describe('The record that started it, or on which a person ran it.'),
  dataset: z.string(),
  started_by: z.enum(['record', 'hand']),
  state: z.enum(INSTANCE_STATES),
  resumes_as: z
    .enum(STORED_INSTANCE_STATES)
    .nullable()
    .describe('The state in which a paused instance continues when the workspace is reinstated or reopened.'),
  waits_for: WaitsFor.nullable().describe(
    'The event, delivery or AI run that the instance waits for; `until` is the end of the wait.',
  ),
  next_at: Timestamp.nullable().describe(
    'The next time at which the instance continues or checks again; null: ended or paused.',
  ),
  error: StepError.nullable().describe('The reason why the instance failed, and the step that failed.'),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

export const WorkflowStepRun = z.object({
  seq: z.int(),
  step_id: z.string(),
  type: z.enum(STEP_TYPES),
  attempt: z.int(),
  state: z.enum(['waiting', 'succeeded', 'failed', 'skipped']),
  input: z.unknown(),
  output: z.unknown(),
  error: StepError.nullable(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

const at = z.object({ id: idInput('workflowInstance') })
const one = z.object({ instance: WorkflowInstance })

const States = z
  .string()
  .transform((text) => text.split(','))
  .pipe(
    z.array(z.enum(INSTANCE_STATES, `a state is one of ${INSTANCE_STATES.join(', ')}; separate several with commas`)),
  )

export const workflowInstances = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'workflow-instances',
    summary: 'List workflow instances',
    description: 'The instances of the project, newest first, without their steps.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      workflow_id: idInput('workflow').optional().describe('Only instances of this workflow.'),
      record_id: idInput('record').optional().describe('Only instances that this record started.'),
      state: States.optional().describe('Only instances in one of these states, separated by commas.'),
    }),
    output: listOf('instances', WorkflowInstance),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'workflow-instances/{id}',
    summary: 'Get a workflow instance',
    description: `One instance with its steps in the order in which they ran, each attempt separately: the newest ${LIMITS.workflowStepRunsShownMax}.`,
    ...READ,
    status: 200,
    params: at,
    output: z.object({ instance: WorkflowInstance.extend({ steps: z.array(WorkflowStepRun) }) }),
  }),
  cancel: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'workflow-instances/{id}/cancel',
    summary: 'Cancel a workflow instance',
    description:
      'Stops an instance that has not ended. Work in progress no longer has an effect. Records and deliveries that its steps created are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  retry: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'workflow-instances/{id}/retry',
    summary: 'Retry a failed workflow instance',
    description:
      'Continues a failed instance at the step that failed, with all its attempts, in the same version. Earlier steps keep their outputs and do not run again.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
