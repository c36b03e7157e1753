/** Every number of the contract's limits, unit last in its name. A limit that is not here is a limit nobody documents. */
export const LIMITS = {
  // Ingest
  ingestBodyBytesDefault: 1_048_576,
  ingestBodyBytesMax: 5_242_880,
  headerBytesMax: 65_536,
  headersMax: 1_000,
  jsonDepthMax: 128,
  multipartPartsMax: 100,
  formKeysMax: 1_000,
  hopsMax: 5,
  datasetsPerProjectMax: 1_000,

  // Idempotency of ingest
  idempotencyKeyCharsMax: 255,
  idempotencyKeptMs: 604_800_000,
  idempotencyWaitMs: 5_000,
  idempotencyHeaderCharsMax: 128,

  // Gates
  ipAllowlistEntriesMax: 64,
  corsOriginsMax: 64,
  originCharsMax: 300,
  verifyTokenCharsMax: 512,
  challengeCharsMax: 2_048,
  ingestKeyDatasetsMax: 100,

  // Verification
  verificationSecretCharsMax: 512,
  hmacPrefixCharsMax: 32,
  toleranceSecondsMin: 30,
  toleranceSecondsMax: 86_400,
  toleranceSecondsDefault: 300,
  signaturesPerHeaderMax: 16,

  // The rejection log
  rejectionContentTypeCharsMax: 200,
  activityLimitMax: 100,
  activityLimitDefault: 50,
  activityWindowDays: 7,
  activitySummaryHours: 24,
  activityRowsMax: 100_000,
  activityCountMax: 1_000_000,

  // Conditions and mappings
  conditionsPerListMax: 50,
  conditionPathCharsMax: 256,
  conditionInItemsMin: 1,
  conditionInItemsMax: 100,
  regexPatternCharsMax: 200,
  regexSubjectCharsMax: 256,
  regexOpenRepetitionsMax: 2,
  mappingsPerListMax: 200,

  // Delivery
  deliveryTimeoutMsMin: 1_000,
  deliveryTimeoutMsMax: 60_000,
  deliveryTimeoutMsDefault: 15_000,
  deliveryConnectMs: 5_000,
  maxInFlightMin: 1,
  maxInFlightMax: 1_000,
  maxInFlightDefault: 10,
  retryScheduleStepsMax: 100,
  retryStepSecondsMax: 86_400,
  retryAfterSecondsMax: 86_400,
  responseReadBytesMax: 65_536,
  responseKeptBytesMax: 16_384,
  customHeadersMax: 32,
  customHeaderCharsMax: 2_048,
  destinationSecretCharsMax: 4_096,
  pemCharsMax: 65_536,
  accessTokenCharsMax: 16_384,
  laneLeaseMs: 15_000,
  laneHeartbeatMs: 5_000,

  // Admin API
  adminRequestsMax: 100,
  adminRequestsWindowMs: 10_000,
  apiKeyUseNotedMs: 60_000,
  adminIdempotencyKeptMs: 86_400_000,
  adminIdempotencyRunningMs: 60_000,
  adminIdempotencyBodyBytesMax: 65_536,
  adminIdempotencyKeysMax: 10_000,
  nameCharsMax: 120,
  listLimitDefault: 50,
  listLimitMax: 200,
  recordsLimitDefault: 200,
  recordsLimitMax: 1_000,
  viewColumnsMax: 100,
  storedPayloadsReadBytesMax: 16_777_216,
  dryRunPayloadsMax: 1_000,
  dryRunRecentDefault: 100,
  dryRunDataCharsMax: 4_194_304,
  sampleHeadersMax: 200,
  correlatedDeliveriesMax: 200,
  correlatedAttemptsMax: 1_000,
  adminBodyBytesMax: 1_048_576,
  suspensionReasonCharsMax: 500,
  rotationOverlapHoursMax: 720,
  rotationOverlapHoursDefault: 24,
  webhookVersionsKept: 100,

  // The dashboard
  dashboardRangeDaysMax: 400,
  dashboardRangeHoursDefault: 24,
  backlogCountMax: 10_000,
  failingDestinationsMax: 5,

  // The audit log
  auditFilterCharsMax: 200,
  auditDaysMin: 365,

  // Workspaces and people
  inviteMs: 604_800_000,
  invitesOpenMax: 200,
  workspaceGraceMs: 1_209_600_000,
  workspacesOwnedMax: 50,

  // Signing in
  emailCharsMax: 254,
  passwordCharsMin: 12,
  passwordCharsMax: 256,
  passkeysPerUserMax: 20,
  mailLinkMs: 900_000,
  passkeyChallengeMs: 300_000,
  oidcSignInMs: 600_000,
  sessionIdleMs: 43_200_000,
  sessionMs: 604_800_000,
  sessionSeenEveryMs: 60_000,
} as const
