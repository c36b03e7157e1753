import { FORM_FIELDS_MAX, TOLERANCE_SECONDS } from '@postroad/verify/limits'

/** Limits of incoming events: ingest, verification, conditions, records. */
export const capture = {
  // Ingest
  ingestBodyBytesDefault: 1_048_576,
  ingestBodyBytesMax: 5_242_880,
  /** A compressed body may inflate to this size, whatever its own is, and beyond to so many times its own. */
  inflatedFreeBytes: 65_536,
  inflationRatioMax: 100,
  headerBytesMax: 65_536,
  headersMax: 1_000,
  jsonDepthMax: 128,
  // Postroad forwards events in an envelope, and mappings can nest them deeper, once at each hop.
  forwardedJsonDepthMax: 1_024,
  multipartPartsMax: 100,
  formKeysMax: FORM_FIELDS_MAX,
  hopsMax: 5,
  datasetsPerProjectMax: 1_000,

  // Idempotency of ingest
  idempotencyKeyCharsMax: 255,
  idempotencyRetentionMs: 604_800_000,
  idempotencyWaitMs: 5_000,
  headerNameCharsMax: 128,

  // Gates
  ipAllowlistEntriesMax: 64,
  corsOriginsMax: 64,
  originCharsMax: 300,
  verifyTokenCharsMax: 512,
  responseContentTypeCharsMax: 200,
  responseBodyBytesMax: 4_096,
  challengeCharsMax: 2_048,
  handshakeConditionsMax: 8,
  handshakeHeadersMax: 8,
  handshakeHeaderCharsMax: 512,
  handshakeOutputsMax: 16,
  /** A larger body without a proof is an event; no question of a provider is as long. */
  handshakeBodyBytesMax: 16_384,
  ingestKeyDatasetsMax: 100,

  // Verification
  verificationSecretCharsMax: 512,
  signingSecretCharsMin: 16,
  hmacPrefixCharsMax: 32,
  signedContentCharsMax: 1_000,
  tokenUrlCharsMax: 1_000,
  toleranceSecondsMin: 30,
  toleranceSecondsMax: 86_400,
  toleranceSecondsDefault: TOLERANCE_SECONDS,

  // The rejection log
  rejectionContentTypeCharsMax: 200,
  refusedSampleBodyBytesMax: 4_096,
  refusedSampleDays: 7,
  quarantineHoursMax: 72,
  quarantineRequestsMax: 1_000,
  quarantineBytesMax: 33_554_432,
  quarantinePerSecondMax: 20,
  quarantineShown: 100,
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
  // The size of all records of one event together. A record that is stored as the body was received does not count.
  recordsOfEventBytesMax: 8_388_608,
  // The rules that see an event, and its records times the destinations, workflows and AI triggers that consider each.
  reasonsOfEventMax: 20_000,

  // Schemas of datasets
  datasetFieldsMax: 500,
  datasetFieldPathCharsMax: 256,
  /** Objects, lists and values of one record; the rest is ignored. */
  datasetFieldsPerRecordMax: 5_000,
  datasetReadPerMinuteMax: 200,
  /** Larger records are not read for the schema. */
  datasetReadBytesMax: 262_144,
  /** The records of one sample after the first ones with this total are not read either. */
  datasetSampleBytesMax: 8_388_608,
  datasetDriftsShown: 100,
  datasetRetentionDaysMax: 3_650,

  // Records and dry runs
  recordsLimitDefault: 200,
  recordsLimitMax: 1_000,
  viewColumnsMax: 100,
  columnKeyCharsMax: 2_048,
  recordsAnswerCharsMax: 4_194_304,
  recordsReadBytesMax: 8_388_608,
  /** A page of a list with payloads ends with the record that exceeds this. */
  recordsListBytesMax: 4_194_304,
  recordsSortMs: 15_000,
  recordsSortedPerPieceMax: 10_000,
  columnsCharsMax: 1_048_576,
  columnsReadRecordsMax: 50_000,
  columnsReadBytesMax: 4_194_304,
  storedPayloadsReadBytesMax: 16_777_216,
  dryRunPayloadsMax: 1_000,
  dryRunRecentDefault: 100,
  dryRunScannedMax: 10_000,
  dryRunDataCharsMax: 4_194_304,
  dryRunWorkMax: 268_435_456,
  sampleHeadersMax: 200,
  // The event in a list of deliveries
  titleReadCharsMax: 8_192,
  payloadStartCharsMax: 400,
  webhookVersionsRetained: 100,
} as const
