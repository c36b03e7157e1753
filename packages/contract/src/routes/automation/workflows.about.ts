import type { About } from '../../about.ts'
import { type workflows, Workflow, WorkflowDefinition, WorkflowDryRun, WorkflowVersion } from './workflows.ts'
import { Step } from '../../workflow-steps.ts'
import { EXAMPLE_PAYLOAD, exampleId } from '../../openapi/example-id.ts'

const WORKFLOW_EXAMPLE = {
  name: 'Order follow-up',
  entry_dataset: 'orders',
  entry_conditions: [{ path: 'type', equals: 'order.created' }],
  steps: [
    {
      id: 'paid',
      type: 'wait_for_event' as const,
      dataset: 'payments',
      conditions: [{ path: 'order_id', equals: '{{ payload.id }}' }],
      timeout_seconds: 86_400,
      on_timeout: 'continue' as const,
    },
    {
      id: 'notify',
      type: 'deliver' as const,
      destination: exampleId('destination'),
      on_error: 'fail' as const,
      await: 'none' as const,
      capture_response: false,
    },
  ],
}

const STORED = { name: 'Order follow-up', entry_dataset: 'orders', steps: WORKFLOW_EXAMPLE.steps }

export const about = {
  text: 'Workflows: the steps that a record of a dataset starts.',
  refusals: { create: ['slug_taken', 'workflow_limit_reached'], replace: ['slug_taken'], update: ['slug_taken'] },
  schemas: { Workflow, WorkflowDefinition, WorkflowDryRun, WorkflowStep: Step, WorkflowVersion },
  bodies: {
    create: WORKFLOW_EXAMPLE,
    replace: WORKFLOW_EXAMPLE,
    update: WORKFLOW_EXAMPLE,
    run: { record_id: exampleId('record') },
    dryRun: { workflow_id: exampleId('workflow'), payload: EXAMPLE_PAYLOAD },
  },
  members: {
    Workflow: { ...STORED, slug: 'order-follow-up', active: true, version: 1 },
    WorkflowVersion: { ...STORED, version: 1 },
    WorkflowDryRun: {
      starts: true,
      failed: null,
      complete: true,
      steps: [
        {
          place: 'steps[0]',
          step_id: 'summary',
          type: 'emit_event',
          input: { dataset: 'summaries', data: { total: 42.5 } },
          output: { record_id: null },
          error: null,
        },
      ],
    },
  },
} satisfies About<typeof workflows>
