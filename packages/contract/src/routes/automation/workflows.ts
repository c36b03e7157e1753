import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { Failure } from '../../decision.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, DeletedForNow, ListQuery, listOf, Slug, Text, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { Step, STEP_TYPES, Steps } from '../../workflow-steps.ts'
import { WorkflowInstance } from './workflow-instances.ts'

const { workflowNameCharsMax, workflowStepsMax, workflowBranchDepthMax } = LIMITS

const EntryConditions = Conditions.default([]).describe(
  'Compared with strict equality. Absent: every record of the dataset starts an instance.',
)
const DefinitionSteps = Steps.describe(
  `At least one. At most ${workflowStepsMax}, counting branches and their steps; branches are nested at most ${workflowBranchDepthMax} levels deep, and no step inside one waits for time, an event or a delivery.`,
)

/** The whole definition of a workflow, as it is created and replaced (contract part 4). */
export const WorkflowDefinition = z.strictObject({
  name: Text.trim().min(1).max(workflowNameCharsMax),
  slug: Slug.optional().describe('Unique in the project. Absent: generated from the name.'),
  active: z.boolean().default(true).describe('false: records start no instance. Instances that run continue.'),
  entry_dataset: DatasetName.describe('A record in this dataset starts an instance.'),
  entry_conditions: EntryConditions,
  steps: DefinitionSteps,
})
export type WorkflowDefinition = z.output<typeof WorkflowDefinition>

export const Workflow = z.object({
  id: idOutput('workflow'),
  name: z.string(),
  slug: z.string(),
  active: z.boolean(),
  version: z.int().describe('The number of the newest version. Each replacement increments it.'),
  entry_dataset: z.string(),
  entry_conditions: Conditions,
  created_at: Timestamp,
  updated_at: Timestamp,
})

const VersionItem = z.object({ version: z.int(), created_at: Timestamp })

export const WorkflowVersion = VersionItem.extend({
  name: z.string(),
  entry_dataset: z.string(),
  entry_conditions: Conditions,
  steps: z.array(Step),
})

const DryRunStep = z.object({
  place: z.string().describe('The place of the step in the definition, such as steps[2].branches[0].steps[0].'),
  step_id: z.string(),
  type: z.enum(STEP_TYPES),
  input: z
    .unknown()
    .describe('The values of the step with their templates rendered; null when a template failed, and for a branch.'),
  output: z
    .unknown()
    .describe('The output that later steps read: the one of `outputs`, or an example with null for unknown values.'),
  failed: z
    .array(z.object({ name: z.string(), failed: Failure }))
    .optional()
    .describe('For a branch: the branches that were not taken, each with the first condition that failed.'),
  error: z.string().nullable().describe('The reason why the step has no input.'),
})

export const WorkflowDryRun = z.object({
  starts: z.boolean().describe('Whether a record with this payload starts the workflow: its entry conditions match.'),
  failed: Failure.nullable().describe('The first entry condition that failed, and the value that it compared.'),
  steps: z
    .array(DryRunStep)
    .describe('The steps that would run, in order. They are shown also when `starts` is false.'),
  complete: z.boolean().describe('false: a step failed or the work budget was used up, so later steps are missing.'),
})
export type WorkflowDryRun = z.infer<typeof WorkflowDryRun>

const at = z.object({ id: idInput('workflow') })
const whole = z.object({ workflow: Workflow.extend({ steps: z.array(Step) }) })
const Replaced = z.object({ ok: z.literal(true) })

const REPLACES =
  'Replaces the whole definition and increments `version`, which cannot be set. A member that is left out gets its default: without `active` the workflow is active again, ' +
  'and without `entry_conditions` it has none. PUT and PATCH do the same. Takes effect on every node within a second. Instances that have started keep their version.'

export const workflows = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'workflows',
    summary: 'List workflows',
    description: 'The workflows of the project, newest first, without their steps.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('workflows', Workflow),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'workflows',
    summary: 'Create a workflow',
    description:
      'Creates a workflow. Each new record that matches starts an instance, in the transaction that stores the record. The error for an invalid definition names the location, such as `steps[1].conditions[0].equals`. ' +
      `A project has at most ${LIMITS.workflowsPerProjectMax} workflows.`,
    ...WRITE,
    status: 201,
    body: WorkflowDefinition,
    output: whole,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'workflows/{id}',
    summary: 'Get a workflow',
    description: 'One workflow with the steps of its newest version.',
    ...READ,
    status: 200,
    params: at,
    output: whole,
  }),
  replace: defineRoute({
    method: 'PUT',
    area: 'project',
    path: 'workflows/{id}',
    summary: 'Replace a workflow',
    description: REPLACES,
    ...WRITE,
    status: 200,
    params: at,
    body: WorkflowDefinition,
    output: Replaced,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'workflows/{id}',
    summary: 'Replace a workflow, by PATCH',
    description: REPLACES,
    ...WRITE,
    status: 200,
    params: at,
    body: WorkflowDefinition,
    output: Replaced,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'workflows/{id}',
    summary: 'Delete a workflow',
    description:
      'Deletes the workflow and cancels its instances that have not ended. You can read them until their retention expires. Deliveries that they created are still sent.',
    ...WRITE,
    status: 200,
    params: at,
    output: DeletedForNow,
  }),
  listVersions: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'workflows/{id}/versions',
    summary: 'List the versions of a workflow',
    description:
      'The versions of a workflow, newest first. A version never changes. An old version is deleted when none of its instances are stored.',
    ...READ,
    status: 200,
    params: at,
    query: ListQuery,
    output: listOf('versions', VersionItem),
  }),
  getVersion: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'workflows/{id}/versions/{version}',
    summary: 'Get a version of a workflow',
    description: 'One version with its definition. Send its members to restore it.',
    ...READ,
    status: 200,
    params: at.extend({ version: z.coerce.number().pipe(z.int().min(1).max(2_147_483_647)) }),
    output: z.object({ version: WorkflowVersion }),
  }),
  run: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'workflows/{id}/run',
    summary: 'Run a workflow on a stored record',
    description:
      'Starts an instance of the newest version on a stored record in any dataset. Entry conditions do not apply, and the workflow does not have to be active. Each call starts an instance. Send an Idempotency-Key to retry safely.',
    ...WRITE,
    status: 201,
    params: at,
    body: z.strictObject({ record_id: idInput('record') }),
    output: z.object({ instance: WorkflowInstance }),
  }),
  dryRun: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'workflows/dry-run',
    summary: 'Test a workflow without effects',
    description:
      'Shows the steps that a workflow, saved or not, would run for a payload: the rendered input of each step, and the branches that it takes. Nothing is stored and no step takes effect, so any role can use it, even in a suspended workspace. ' +
      'Waits, agents and deliveries have no result here: send the one to assume in `outputs`.',
    ...READ,
    status: 200,
    body: z.strictObject({
      workflow_id: idInput('workflow')
        .optional()
        .describe('A saved workflow; other members that you send replace its members.'),
      entry_dataset: DatasetName.optional(),
      entry_conditions: Conditions.optional(),
      steps: Steps.optional(),
      payload: z.unknown().optional().describe('The payload to test with. Send this or record_id.'),
      record_id: idInput('record').optional().describe('A stored record to test with.'),
      outputs: z.record(z.string(), z.unknown()).default({}).describe('The outputs to assume, by the id of the step.'),
    }),
    output: WorkflowDryRun,
  }),
} as const
