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
  rotationOverlapHoursMax: 720,
  rotationOverlapHoursDefault: 24,
} as const
