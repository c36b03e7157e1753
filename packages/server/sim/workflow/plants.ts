/** Deliberate faults of the workflow engine that the simulator must find. */
export const WORKFLOW_PLANTS = [
  'no-fence',
  'lost-wake',
  'no-look-back',
  'late-record',
  'no-matcher-lock',
  'double-emit',
  'orphaned-pending',
  'timeout-in-pause',
] as const
export type WorkflowPlant = (typeof WORKFLOW_PLANTS)[number]
