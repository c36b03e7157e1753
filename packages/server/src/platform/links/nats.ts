import { jetstream, JetStreamApiError, type PubAck } from '@nats-io/jetstream'
import { connect, errors, headers, type NatsConnection } from '@nats-io/transport-node'
import { LIMITS } from '@postroad/contract'
import { openRelay } from '../guarded/relay.ts'
import { NATS } from '../guarded/units.ts'
import { LinkFailure, linkFailure, noAccess, refusedBy, tooLarge } from './failure.ts'
import { filledName } from './names.ts'
import type { LinkMessage, LinkPlace, OpenLink } from './types.ts'

const PING_MS = 10_000
/** JSStreamMessageExceedsMaximumErr: a stream can have a limit of its messages, `max_msg_size`. */
const EXCEEDS_MAXIMUM = 10_054

/** Publishes to JetStream, whose answer means that the stream has the event. The id of the event is the Nats-Msg-Id. */
export const openNats: OpenLink<'nats'> = async ({ config, openSocket, place }) => {
  const socket = await openSocket({ units: NATS, opening: 'nats' })
  const connection = await connected(place, await openRelay(socket))
  const stream = jetstream(connection)
  return {
    isBroken: () => socket.destroyed || connection.isClosed(),
    close: () => void connection.close().catch(() => undefined),
    send: async (message) => {
      const bytes = Buffer.byteLength(message.body)
      const most = connection.info?.max_payload
      if (most !== undefined && bytes > most) throw tooLarge(bytes, most)
      try {
        const ack: PubAck = await stream.publish(filledName(config.subject, message), message.body, {
          msgID: message.id,
          headers: headersOf(message),
          // The caller ends the wait earlier.
          timeout: LIMITS.deliveryTimeoutMsMax,
          ...(config.stream === null ? {} : { expect: { streamName: config.stream } }),
        })
        return `Stored in ${ack.stream} as ${ack.seq}${ack.duplicate ? ': the event was already there' : ''}`
      } catch (error) {
        if (isTooLarge(error)) throw tooLarge(bytes, undefined)
        throw failureOf(error, config.subject)
      }
    },
  }
}

async function connected(
  { user, token }: LinkPlace,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<NatsConnection> {
  try {
    return await connect({
      servers: `${host}:${port}`,
      name: 'postroad',
      ...(user === null ? {} : { user: user.name, pass: user.password }),
      ...(token === null ? {} : { token }),
      tls: null,
      timeout: LIMITS.deliveryConnectMs,
      pingInterval: PING_MS,
      // Other servers of a cluster have addresses that nobody has checked; a new link looks the host up again.
      reconnect: false,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
    })
  } catch (error) {
    throw failureOf(error, '')
  }
}

function headersOf(message: LinkMessage): ReturnType<typeof headers> {
  const made = headers()
  for (const [name, value] of Object.entries(message.headers)) made.set(name, value)
  return made
}

/** The limits also count the headers: the client refuses a message beyond the server's, and JetStream one beyond the stream's. */
const isTooLarge = (error: unknown): boolean =>
  (error instanceof errors.InvalidArgumentError && error.message.includes('max_payload size exceeded')) ||
  (error instanceof JetStreamApiError && error.code === EXCEEDS_MAXIMUM)

type Explain = (error: Error, subject: string) => LinkFailure | undefined

/** The first entry that knows the error explains it. */
const EXPLAINED: readonly Explain[] = [
  (error) =>
    error instanceof errors.AuthorizationError ||
    error instanceof errors.UserAuthenticationExpiredError ||
    error instanceof errors.PermissionViolationError
      ? noAccess(error)
      : undefined,
  (error, subject) =>
    error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders())
      ? new LinkFailure(
          'refused',
          `No JetStream stream stores the subject ${subject}. Create a stream, or correct the subject.`,
        )
      : undefined,
  (error) => (error instanceof JetStreamApiError ? refusedBy(error, 'JetStream refused the event.') : undefined),
  (error) =>
    error instanceof errors.TimeoutError
      ? new LinkFailure('timeout', 'The destination did not accept a connection in time.')
      : undefined,
  (error) =>
    error instanceof errors.InvalidArgumentError || error instanceof errors.InvalidSubjectError
      ? refusedBy(error, 'The server does not accept the event in this form. Check TLS and the subject.')
      : undefined,
]

function failureOf(error: unknown, subject: string): LinkFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  for (const one of [error, cause]) {
    if (!(one instanceof Error)) continue
    for (const explain of EXPLAINED) {
      const failure = explain(one, subject)
      if (failure !== undefined) return failure
    }
  }
  return linkFailure(cause ?? error)
}
