import { encodeId } from '../ids.ts'

/** The definition of a workflow in examples. */
export const WORKFLOW_EXAMPLE = {
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
      destination: encodeId('destination', '019ab4c0-2f00-7a1b-8c2d-3e4f5a6b7c8d'),
      on_error: 'fail' as const,
      await: 'none' as const,
      capture_response: false,
    },
  ],
}

const INSTANCE = {
  workflow: 'Order follow-up',
  dataset: 'orders',
  started_by: 'record',
  state: 'running',
  waits_for: null,
  error: null,
}
const STORED = { name: 'Order follow-up', entry_dataset: 'orders', steps: WORKFLOW_EXAMPLE.steps }

/** The members of workflows and instances in example answers. */
export const WORKFLOW_MEMBERS: Readonly<Record<string, unknown>> = {
  ...ofOwner('Instance', INSTANCE),
  ...ofOwner('WorkflowInstance', INSTANCE),
  ...ofOwner('Workflow', { ...STORED, slug: 'order-follow-up', active: true, version: 1 }),
  ...ofOwner('WorkflowVersion', { ...STORED, version: 1 }),
  ...ofOwner('WorkflowStepRun', {
    step_id: 'paid',
    type: 'wait_for_event',
    attempt: 1,
    state: 'waiting',
    input: { dataset: 'payments', conditions: [{ path: 'order_id', equals: 'o_1' }] },
    output: null,
    error: null,
  }),
  ...ofOwner('WorkflowDryRun', {
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
  }),
}

function ofOwner(owner: string, members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [`${owner}.${name}`, value]))
}
