/** Limits of every route of the admin API. */
export const surfaces = {
  // Admin API
  adminRequestsMax: 100,
  adminRequestsWindowMs: 10_000,
  adminIdempotencyRetentionMs: 86_400_000,
  adminIdempotencyRunningMs: 60_000,
  adminIdempotencyBodyBytesMax: 65_536,
  adminIdempotencyKeysMax: 10_000,
  adminJsonDepthMax: 256,
  nameCharsMax: 120,
  listLimitDefault: 50,
  listLimitMax: 200,
  adminBodyBytesMax: 1_048_576,

  // MCP
  /** Messages in one request of a client that sends batches. Each counts as a request. */
  mcpMessagesMax: 20,
  mcpListDefault: 20,
  /** Estimated tokens of a page of a list for which the model chose no limit. */
  mcpListTokensMax: 1_900,
  /** Estimated tokens of any other answer. */
  mcpAnswerTokensMax: 8_000,
  /** Characters of one piece of a long text. */
  mcpTextCharsMax: 16_000,

  rotationOverlapHoursMax: 720,
  rotationOverlapHoursDefault: 24,
} as const
