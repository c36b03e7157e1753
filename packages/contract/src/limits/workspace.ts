/** Limits of the workspace, its figures, exports and audit log. */
export const workspace = {
  // The dashboard
  dashboardRangeDaysMax: 400,
  dashboardRangeHoursDefault: 24,
  backlogCountMax: 10_000,
  failingDestinationsMax: 5,

  // Data exports
  dataExportKeptDays: 7,
  dataExportsReadyMax: 3,

  // The audit log
  auditFilterCharsMax: 200,
  auditDaysMin: 365,

  suspensionReasonCharsMax: 500,

  workspaceGraceMs: 1_209_600_000,
  workspacesOwnedMax: 50,
} as const
