import type { About } from '../../about.ts'
import { type workflows, Workflow, WorkflowDefinition, WorkflowDryRun, WorkflowVersion } from './workflows.ts'
import { Step } from '../../workflow-steps.ts'

export const about = {
  text: 'Workflows: the steps that a record of a dataset starts.',
  refusals: { create: ['slug_taken', 'workflow_limit_reached'], replace: ['slug_taken'], update: ['slug_taken'] },
  schemas: { Workflow, WorkflowDefinition, WorkflowDryRun, WorkflowStep: Step, WorkflowVersion },
} satisfies About<typeof workflows>
