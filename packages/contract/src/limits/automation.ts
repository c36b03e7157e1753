/** Limits of workflows, AI agents and their runs. */
export const automation = {
  workflowsPerProjectMax: 100,
  workflowNameCharsMax: 120,
  workflowStepsMax: 32,
  workflowBranchDepthMax: 3,
  workflowSecondsMax: 7_776_000,
  workflowRetriesMax: 10,
  workflowRetriesDefault: 3,
  workflowBackoffSecondsMax: 3_600,
  workflowBackoffSecondsDefault: 10,
  agentStepsMax: 16,
  agentTimeoutSecondsMax: 120,
} as const
