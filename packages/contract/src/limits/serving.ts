/** Limits of search, of the Data API, of forwarders and of customer portals. */
export const serving = {
  eventWaitSecondsDefault: 25,
  eventWaitSecondsMax: 60,
  eventWaitEventsDefault: 20,
  eventWaitEventsMax: 100,
  searchPayloadBytesMax: 4_194_304,
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
  /** The payloads on one page have at most this size, plus one payload. */
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

  // Customer portals
  portalsPerProjectMax: 1_000,
  /** The customers of all portals of a project. */
  customersPerProjectMax: 50_000,
  destinationsPerCustomerMax: 50,
  /** The destinations of all customers of a project. The plan of a project has them all in memory. */
  customerDestinationsPerProjectMax: 20_000,
  /** The most destinations that one deletion of a portal deletes. */
  customerDestinationsDeletedMax: 200,
  tokensPerCustomerMax: 1_000,
  portalEventTypesMax: 100,
  portalFrameOriginsMax: 20,
  portalUrlCharsMax: 2_048,
  /** A logo in a data: URL of about 48 KiB. */
  portalLogoCharsMax: 65_536,
  customerIdCharsMax: 128,
  portalSessionMs: 28_800_000,
  portalTokenSecondsMin: 60,
  portalTokenSecondsMax: 31_536_000,
  portalTokenSecondsDefault: 86_400,
  /** The requests of one customer, over all its tokens and sessions. */
  portalRequestsPer10SecondsMax: 200,
  portalTestsPer10SecondsMax: 5,
} as const
