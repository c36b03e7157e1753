import type { About } from '../../about.ts'
import { type workflowInstances, WorkflowInstance, WorkflowStepRun } from './workflow-instances.ts'

const INSTANCE = {
  workflow: 'Order follow-up',
  dataset: 'orders',
  started_by: 'record',
  state: 'running',
  waits_for: null,
  error: null,
}

export const about = {
  text: 'Workflow instances and the steps that they ran.',
  refusals: { cancel: ['invalid_state'], retry: ['invalid_state'] },
  schemas: { WorkflowInstance, WorkflowStepRun },
  members: {
    Instance: INSTANCE,
    WorkflowInstance: INSTANCE,
    WorkflowStepRun: {
      step_id: 'paid',
      type: 'wait_for_event',
      attempt: 1,
      state: 'waiting',
      input: { dataset: 'payments', conditions: [{ path: 'order_id', equals: 'o_1' }] },
      output: null,
      error: null,
    },
  },
} satisfies About<typeof workflowInstances>
