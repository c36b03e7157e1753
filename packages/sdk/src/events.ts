import type { CallOptions } from './call.ts'
import type { Accepted } from './contract.ts'
import { answerTo, newIdempotencyKey, type Connection } from './transport.ts'

/** An event, and the place where it is stored. */
export type EventToSend = {
  /** The payload: any JSON value. */
  readonly data: unknown
} & (
  | {
      /** Stores the payload whole in this dataset. Without any place, the rules of the project decide. */
      readonly dataset?: string | undefined
      readonly webhook?: undefined
      readonly endpoint?: undefined
    }
  /** Sends the payload through the endpoint with this slug, with its conditions and mappings. */
  | { readonly webhook: string; readonly dataset?: undefined; readonly endpoint?: undefined }
  /** Sends the payload to the URL of an endpoint (`public_url`), which needs no ingest key. */
  | { readonly endpoint: string; readonly dataset?: undefined; readonly webhook?: undefined }
)

/** Sends events, with the ingest key of the client. */
export type Events = {
  /**
   * Sends one event. When it returns, the event is stored for good and will be delivered. All attempts carry one
   * Idempotency-Key, so a retry never stores the event twice. Give your own key to extend this across restarts.
   */
  send(event: EventToSend, options?: CallOptions): Promise<Accepted>
}

export function eventsOf(connection: Connection): Events {
  return {
    send: async (event, options = {}) => {
      const body = JSON.stringify(event.data)
      // JSON.stringify returns undefined for a function or undefined, despite its declared type.
      if (typeof body !== 'string') throw new TypeError('"data" is missing: give the event a JSON value.')
      const answer = await answerTo(connection, {
        ...placeOf(event, connection),
        ...options,
        idempotencyKey: options.idempotencyKey ?? newIdempotencyKey(),
        method: 'POST',
        body,
        reads: 'json',
        canRepeat: true,
        prefersContract: true,
      })
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the body of a 200 or 201 of ingest (contract part 4)
      return answer as Accepted
    },
  }
}

/** The ingest key is in a header, not in the path, because servers log paths. */
function placeOf(
  { dataset, endpoint, webhook }: EventToSend,
  { ingestKey }: Connection,
): { readonly path: string; readonly credential: string | undefined } {
  if (endpoint !== undefined) return { path: endpoint, credential: undefined }
  if (ingestKey === undefined)
    throw new TypeError('"ingestKey" is missing: give the client an ingest key (ik_live_…), or send to an endpoint.')
  if (webhook !== undefined) return { path: `/v1/webhooks/${encodeURIComponent(webhook)}`, credential: ingestKey }
  const path = dataset === undefined ? '/v1/ingest' : `/v1/ingest/${encodeURIComponent(dataset)}`
  return { path, credential: ingestKey }
}
