import { connect, type ConfirmChannel } from 'amqplib'
import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import { openRelay } from '../guarded/relay.ts'
import { AMQP } from '../guarded/units.ts'
import { LinkFailure, linkFailure, noAccess, refusedBy, saidBy, tooLarge } from './failure.ts'
import { filledName } from './names.ts'
import type { LinkMessage, LinkSettings, OpenLink } from './types.ts'

type Settings = LinkSettings<'amqp'>

const HEARTBEAT_SECONDS = 10
const DELIVERY_ID = DELIVERY_HEADERS.deliveryId.toLowerCase()

/** The attempt that a message belongs to. An event does not name its message, because two deliveries of it can be under way. */
const publicationOf = (headers: Readonly<Record<string, unknown>> | undefined): string => String(headers?.[DELIVERY_ID])

/**
 * Publishes persistent and mandatory messages on one confirm channel. The broker confirms a message when every queue
 * that it was routed to has it, and returns a message that was routed to no queue.
 */
export const openAmqp: OpenLink<'amqp'> = async ({ config, openSocket, place }) => {
  const socket = await openSocket({ units: AMQP, opening: 'tls' })
  /** The reason why messages under way failed, as the broker gave it. */
  let reason: unknown
  let broken = false
  const broke = (error?: unknown): void => {
    broken = true
    reason ??= error
  }
  const { connection, channel } = await connected(place, { ...(await openRelay(socket)), broke })
  const returned = new Set<string>()
  channel.on('return', ({ properties }) => returned.add(publicationOf(properties.headers)))
  const close = (): void => {
    broken = true
    connection.close().catch(() => undefined)
  }
  return {
    isBroken: () => broken || socket.destroyed,
    close,
    send: async (message) => {
      try {
        await publish(channel, config, message)
      } catch (error) {
        // The broker explains itself on the channel, and the confirmations only fail.
        throw failureOf(reason ?? error, message)
      }
      if (returned.delete(publicationOf(message.headers)))
        throw new LinkFailure(
          'refused',
          'No queue is bound to this routing key, so the broker returned the event. Bind a queue.',
        )
      return 'Confirmed by the broker'
    },
  }
}

type At = { readonly host: string; readonly port: number; readonly broke: (error?: unknown) => void }

/** An error that nothing listens to would end the process, so `broke` listens from the start. */
async function connected({ user, path }: Settings['place'], { host, port, broke }: At) {
  try {
    const connection = await connect(
      {
        protocol: 'amqp',
        hostname: host,
        port,
        username: user?.name ?? 'guest',
        password: user?.password ?? 'guest',
        vhost: decodeURIComponent(path.slice(1)) || '/',
        heartbeat: HEARTBEAT_SECONDS,
      },
      {
        timeout: LIMITS.deliveryConnectMs,
        noDelay: true,
        clientProperties: { connection_name: 'postroad' },
      },
    )
    connection.on('error', broke)
    connection.on('close', broke)
    const channel = await connection.createConfirmChannel()
    channel.on('error', broke)
    channel.on('close', () => broke())
    return { connection, channel }
  } catch (error) {
    throw failureOf(error, undefined)
  }
}

function publish(channel: ConfirmChannel, config: Settings['config'], message: LinkMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    channel.publish(
      config.exchange,
      filledName(config.routing_key, message),
      Buffer.from(message.body),
      {
        messageId: message.id,
        type: message.dataset,
        timestamp: Math.floor(message.receivedAt.getTime() / 1_000),
        contentType: 'application/json',
        persistent: true,
        mandatory: true,
        headers: message.headers,
      },
      (error: unknown) => (error === null || error === undefined ? resolve() : reject(asError(error))),
    )
  })
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

function failureOf(error: unknown, message: LinkMessage | undefined): LinkFailure {
  const said = saidBy(error)
  if (/ACCESS.REFUSED|\b403\b/.test(said)) return noAccess(error)
  const [, size, most] = /message size (\d+) is larger than configured max size (\d+)/.exec(said) ?? []
  const bytes = message === undefined ? 0 : Buffer.byteLength(message.body)
  if (size !== undefined && Number(size) === bytes) return tooLarge(bytes, Number(most))
  if (/\b(404|406|530|541)\b|NOT.FOUND|NOT.ALLOWED|nacked/i.test(said))
    return refusedBy(error, 'The broker refused the message.')
  if (/closed abruptly during opening handshake/i.test(said))
    return new LinkFailure(
      'connection_reset',
      'The broker closed the connection immediately. Check the user, the vhost and TLS.',
    )
  return linkFailure(error)
}
