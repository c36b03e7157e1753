import { connect, type ChannelModel, type ConfirmChannel } from 'amqplib'
import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import { LinkFailure, linkFailure, noAccess, refusedBy, saidBy, tooLarge } from './failure.ts'
import { filledName } from './names.ts'
import { codeOf, overAddresses, tlsOptions } from './reach.ts'
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
export const openAmqp: OpenLink<'amqp'> = async ({ config, ...settings }) => {
  const connection = await overAddresses(settings, (address) => connected(settings, address))
  const channel = await connection.createConfirmChannel()
  /** The reason why messages under way failed, as the broker gave it. */
  let reason: unknown
  let broken = false
  const broke = (error?: unknown): void => {
    broken = true
    reason ??= error
  }
  connection.on('error', broke)
  connection.on('close', broke)
  channel.on('error', broke)
  channel.on('close', () => broke())
  const returned = new Set<string>()
  channel.on('return', ({ properties }) => returned.add(publicationOf(properties.headers)))
  const close = (): void => {
    broken = true
    connection.close().catch(() => undefined)
  }
  settings.signal.addEventListener('abort', close)
  return {
    isBroken: () => broken,
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

async function connected({ reach, place, signal }: Omit<Settings, 'config'>, address: string): Promise<ChannelModel> {
  try {
    const connection = await connect(
      {
        protocol: place.isEncrypted ? 'amqps' : 'amqp',
        hostname: address,
        port: place.port,
        username: place.user?.name ?? 'guest',
        password: place.user?.password ?? 'guest',
        vhost: decodeURIComponent(place.path.slice(1)) || '/',
        heartbeat: HEARTBEAT_SECONDS,
      },
      {
        ...(place.isEncrypted ? tlsOptions(reach, place) : {}),
        timeout: LIMITS.deliveryConnectMs,
        noDelay: true,
        clientProperties: { connection_name: 'postroad' },
      },
    )
    if (signal.aborted) void connection.close().catch(() => undefined)
    return connection
  } catch (error) {
    if (codeOf(error).startsWith('E')) throw error
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
