/** Settings of one call. */
export type CallOptions = {
  /** Ends the call, its retries and its waits. The call then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /**
   * For a POST: within 24 hours (events: 7 days) a repeat with the same key and request gets the first response again.
   * Without a key, the client creates one for each call, and uses it for all retries of the call.
   */
  readonly idempotencyKey?: string | undefined
  /** The longest time for one attempt, in milliseconds. Default: the setting of the client. */
  readonly timeoutMs?: number | undefined
  /** The maximum number of retries of a failed request. Default: the setting of the client. */
  readonly maxRetries?: number | undefined
  /** For downloads of stored files: starts at this byte of the file with this ETag. Another file is refused with `file_changed`. */
  readonly rest?: { readonly from: number; readonly etag: string } | undefined
}

/** Await a list for one page, or iterate it with `for await` for every item of every page. */
export type Pages<Item, Page> = Promise<Page> & AsyncIterable<Item>
