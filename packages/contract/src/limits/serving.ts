/** Limits of search, of the Data API and of forwarders. */
export const serving = {
  searchPayloadBytesMax: 16_777_216,
  searchWorkMax: 268_435_456,
  searchTextCharsMax: 256,
  /** Records, deliveries, submissions or runs that one call of a search looks at. */
  searchScannedMax: 50_000,

  correlatedDeliveriesMax: 200,
  correlatedAttemptsMax: 1_000,

  // The Data API
  dataKeysPerProjectMax: 500,
  dataKeyDatasetsMax: 100,
  dataKeyRequestsMax: 10_000,
  dataKeyRequestsDefault: 100,
  dataPageDefault: 100,
  dataPageMax: 1_000,
  /** Of the payloads on one page, and one payload more. */
  dataPageBytesMax: 8_388_608,
  dataColumnsMax: 500,
  dataColumnsCharsMax: 16_384,

  // Forwarders
  forwardersPerProjectMax: 25,
  redactedNamesMax: 50,
  redactedNameCharsMax: 128,
  forwardedBatchRowsMax: 512,
  forwardedBatchBytesMax: 1_048_576,
  forwardedBodyCharsMax: 16_384,
  forwardedBodyBytesMax: 65_536,
  forwarderRequestMs: 10_000,
} as const
