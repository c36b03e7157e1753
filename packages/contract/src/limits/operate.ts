/** Limits of the operators and of the installation. */
export const operate = {
  suspensionReasonCharsMax: 500,
  platformSearchCharsMax: 100,
  supportContactCharsMax: 200,
  broadcastTitleCharsMax: 120,
  broadcastTextCharsMax: 2_000,
  broadcastWorkspacesMax: 100,
  healthCountMax: 10_000,
  /** The most emails of the outbox that the health of the installation lists. */
  outboxShown: 50,
} as const
