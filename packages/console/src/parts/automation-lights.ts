import { wordOf, type Light, type Tone } from '@postroad/contract/lights'
import type { Workflow, WorkflowInstance } from '../data/automation-lists.ts'

/** The lights of workflows and of their runs, so that every screen shows the same word for a state. */

export function workflowLight({ active }: Pick<Workflow, 'active'>): Light {
  return active
    ? { tone: 'ok', word: 'on', text: 'Each matching record starts a run.' }
    : { tone: 'paused', word: 'off', text: 'Records do not start runs. Runs in progress continue.' }
}

const TONES: Readonly<Record<WorkflowInstance['state'], Tone>> = {
  pending: 'sending',
  running: 'sending',
  sleeping: 'sending',
  waiting: 'sending',
  retrying: 'retry',
  completed: 'ok',
  failed: 'fail',
  cancelled: 'rejected',
  paused: 'paused',
}

const TEXTS: Readonly<Record<WorkflowInstance['state'], string>> = {
  pending: 'Starts as soon as a process is free.',
  running: 'A process is running the steps.',
  sleeping: 'Waiting for a set time.',
  waiting: 'Waiting for an event, a delivery or an AI run.',
  retrying: 'A step failed. Postroad retries it.',
  completed: 'All steps are done.',
  failed: 'A step failed after its last retry.',
  cancelled: 'Canceled by a person, or its workflow was deleted.',
  paused: 'The workspace is suspended or closed. The run continues when the workspace is active again.',
}

export function instanceLight({ state }: Pick<WorkflowInstance, 'state'>): Light {
  return { tone: TONES[state], word: wordOf(state), text: TEXTS[state] }
}

/** Whether a run has not ended and can be canceled. */
export function isOngoing({ state }: Pick<WorkflowInstance, 'state'>): boolean {
  return state !== 'completed' && state !== 'failed' && state !== 'cancelled'
}
