/** Limits of search. */
export const serving = {
  searchPayloadBytesMax: 16_777_216,
  searchWorkMax: 268_435_456,
  searchTextCharsMax: 256,

  correlatedDeliveriesMax: 200,
  correlatedAttemptsMax: 1_000,
} as const
