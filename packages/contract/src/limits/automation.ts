/** Limits of workflows, AI agents and their runs. */
export const automation = {
  workflowsPerProjectMax: 100,
  workflowNameCharsMax: 120,
  workflowStepsMax: 32,
  workflowBranchDepthMax: 3,
  /** Of all steps together, as JSON. */
  workflowDefinitionCharsMax: 131_072,
  workflowTemplateCharsMax: 4_096,
  workflowValueCharsMax: 262_144,
  workflowContextCharsMax: 1_048_576,
  outputSchemaCharsMax: 16_384,
  workflowSecondsMax: 7_776_000,
  workflowRetriesMax: 10,
  workflowRetriesDefault: 3,
  workflowBackoffSecondsMax: 3_600,
  workflowBackoffSecondsDefault: 10,
  agentStepsMax: 16,
  agentTimeoutSecondsMax: 120,
} as const
