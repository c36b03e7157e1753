import { createClient } from '@redis/client'
import { LIMITS } from '@postroad/contract'
import { linkFailure, noAccess, refusedBy, type LinkFailure } from './failure.ts'
import { filledName } from './names.ts'
import { overAddresses, tlsOptions } from './reach.ts'
import type { LinkMessage, LinkSettings, OpenLink } from './types.ts'

type Settings = LinkSettings<'redis_stream'>

/**
 * Appends the entry unless the key of the event exists. Redis undoes nothing when a command of a script fails, so the key
 * comes last: it must never claim an entry that was refused.
 */
const ONCE = `
if redis.call('exists', KEYS[2]) == 1 then return false end
local entry = redis.call('xadd', KEYS[1], unpack(ARGV, 2))
redis.call('set', KEYS[2], '1', 'ex', ARGV[1])
return entry`

/** An entry of a stream for each event, with the fields id, dataset, received_at and body. */
export const openRedis: OpenLink<'redis_stream'> = async ({ config, ...settings }) => {
  const client = await overAddresses(settings, (address) => connected(settings, address))
  let broken = false
  client.on('error', () => (broken = true))
  client.on('end', () => (broken = true))
  const close = (): void => {
    broken = true
    if (client.isOpen) client.destroy()
  }
  settings.signal.addEventListener('abort', close)
  return {
    isBroken: () => broken,
    close,
    send: async (message, signal) => {
      try {
        const answer = await client.sendCommand<string | null>(commandOf(config, message), { abortSignal: signal })
        return answer === null ? 'The event was already there' : `XADD ${answer}`
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}

type Client = ReturnType<typeof createClient>

async function connected({ reach, place, signal }: Omit<Settings, 'config'>, address: string): Promise<Client> {
  const at = {
    host: address,
    port: place.port,
    connectTimeout: LIMITS.deliveryConnectMs,
    reconnectStrategy: false,
  } as const
  const client: Client = createClient({
    socket: place.isEncrypted ? { ...tlsOptions(reach, place), ...at, tls: true } : { ...at, tls: false },
    ...(place.user === null
      ? {}
      : { ...(place.user.name === '' ? {} : { username: place.user.name }), password: place.user.password }),
    database: Number(place.path.slice(1) || '0'),
    name: 'postroad',
    RESP: 2,
    disableOfflineQueue: true,
    // A server must not move the connection to an address that nobody has checked.
    maintNotifications: 'disabled',
  })
  client.on('error', () => undefined)
  const stop = (): void => client.destroy()
  signal.addEventListener('abort', stop)
  try {
    // The attempt may have ended while the driver was loaded, and a server that sends nothing would keep the connection open.
    signal.throwIfAborted()
    await client.connect()
    return client
  } catch (error) {
    if (client.isOpen) client.destroy()
    throw failureOf(error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function commandOf(config: Settings['config'], message: LinkMessage): string[] {
  const stream = filledName(config.stream, message)
  const cut = config.length_max === null ? [] : ['MAXLEN', '~', String(config.length_max)]
  const fields = [
    'id',
    message.id,
    'dataset',
    message.dataset,
    'received_at',
    message.receivedAt.toISOString(),
    'body',
    message.body,
  ]
  if (config.dedupe_seconds === null) return ['XADD', stream, ...cut, '*', ...fields]
  // The braces put both keys into the same slot of a cluster.
  const once = `postroad:{${stream}}:${message.id}`
  return ['EVAL', ONCE, '2', stream, once, String(config.dedupe_seconds), ...cut, '*', ...fields]
}

function failureOf(error: unknown): LinkFailure {
  const said = error instanceof Error ? error.message : ''
  if (/^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/.test(said)) return noAccess(error)
  if (/^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/.test(said)) return refusedBy(error, 'Redis is not ready.')
  if (/^[A-Z]{2,}\b/.test(said) && !/^[A-Z]+:/.test(said)) return refusedBy(error, 'Redis refused the entry.')
  return linkFailure(error)
}
