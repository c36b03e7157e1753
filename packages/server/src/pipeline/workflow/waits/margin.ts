/** As for a stream: the longest times from an id to the start of its transaction, and from there to its end. */
export const MARGIN_MS = 26_000
