/** Limits of the workspace, its figures, exports and audit log. */
export const workspace = {
  // The dashboard
  dashboardRangeDaysMax: 400,
  dashboardRangeHoursDefault: 24,
  backlogCountMax: 10_000,
  failingDestinationsMax: 50,

  // The map
  mapRangeDaysMax: 31,
  mapNodesDefault: 50,
  mapNodesMax: 200,
  mapLinesMax: 2_000,

  // The configuration of a project
  configChangesMax: 1_000,
  configPayloadsMax: 1_000,
  configPayloadsDefault: 100,
  configRoutesShownMax: 50,
  configDifferencesShownMax: 20,

  // Alerts
  alertThresholdMax: 1_000_000_000,
  quietHoursPerProjectMax: 20,
  alertNameCharsMax: 100,
  alertRetentionDays: 90,

  // Data exports
  dataExportRetentionDays: 7,
  dataExportsReadyMax: 3,

  // Deletions that can be undone
  deletionRetentionMs: 86_400_000,
  deletionsPerProjectMax: 1_000,
  // After this time a deletion that was undone, or can no longer be undone, answers 404.
  deletionShownMs: 604_800_000,

  // The audit log
  auditFilterCharsMax: 200,
  auditDaysMin: 365,
  /** The rows that one verification reads before the caller must continue. */
  auditVerifiedRowsMax: 20_000,
  auditCursorCharsMax: 2_048,

  // A payment that failed
  billingGraceDays: 14,

  workspaceGraceMs: 1_209_600_000,
  workspacesOwnedMax: 50,
} as const
