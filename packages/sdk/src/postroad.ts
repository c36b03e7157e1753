import { adminMethods } from './admin.ts'
import type { Client } from './contract.ts'
import { eventsOf, type Events } from './events.ts'
import { streamOf, type StreamEvent, type StreamOptions } from './stream.ts'
import type { Connection } from './transport.ts'

export type PostroadOptions = {
  /** The address of the server, such as `https://hooks.example.com`. */
  readonly url: string
  /** An admin API key (`hk_…`). Without it, requests carry only what `fetch` adds, such as a session cookie. */
  readonly token?: string | undefined
  /** An ingest key (`ik_live_…`), which sends events. Without `token` it streams records too. */
  readonly ingestKey?: string | undefined
  /** The project of project routes (`prj_…`). Default: the Default project, or the project of the stream's workspace. */
  readonly project?: string | undefined
  /** The longest time for one attempt, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined
  /** The maximum number of retries of a failed request. Default: 2. 0 sends each request once. */
  readonly maxRetries?: number | undefined
  /** The function that sends requests. Default: `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Parses the responses. Default: `JSON.parse`. Replace it for numbers with more digits than JavaScript retains. */
  readonly parseJson?: ((text: string) => unknown) | undefined
}

/**
 * A client of a Postroad server: the routes of the admin API (`postroad.deliveries.list()`), events, and the live stream. It throws
 * refusals as `ServiceError`. It repeats a request at most `maxRetries` times: on 429, 5xx, a timeout, or without a response. A POST
 * has one `Idempotency-Key` for all its attempts; without a key it is repeated only after 429.
 */
export interface Postroad extends Client {
  readonly events: Events
  /**
   * The events of the project, as Postroad stores them. A client with `token` gets records, deliveries and rejected requests. A client with
   * only an ingest key gets records. Iterate it with `for await`. It connects again by itself and continues after the last event.
   */
  stream(options?: StreamOptions): AsyncIterable<StreamEvent>
}

// oxlint-disable-next-line typescript/no-extraneous-class -- `new Postroad()` is the form that users know, and `instanceof` works
class Connected {
  constructor(options: PostroadOptions) {
    const connection = connectionOf(options)
    Object.assign(this, adminMethods(connection), {
      events: eventsOf(connection),
      stream: (asked: StreamOptions = {}) => streamOf(connection, asked),
    })
  }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the constructor assigns every member of Postroad
export const Postroad = Connected as unknown as new (options: PostroadOptions) => Postroad

const TIMEOUT_MS = 30_000
const RETRIES_MAX = 2

function connectionOf(options: PostroadOptions): Connection {
  const { url, token, ingestKey, project, timeoutMs = TIMEOUT_MS, maxRetries = RETRIES_MAX } = options
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new TypeError(`"${url}" is not the address of a server. Write it as https://hooks.example.com.`)
  return {
    url: url.replace(/\/+$/, ''),
    token,
    ingestKey,
    project,
    timeoutMs,
    maxRetries,
    send: options.fetch ?? globalThis.fetch.bind(globalThis),
    parseJson: options.parseJson ?? JSON.parse,
  }
}
