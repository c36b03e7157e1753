import type { GuardedSocket } from '../guarded/guarded-socket.ts'
import { REDIS } from '../guarded/units.ts'
import { linkFailure, noAccess, refusedBy, type LinkFailure } from './failure.ts'
import { filledName } from './names.ts'
import type { LinkMessage, LinkPlace, LinkSettings, OpenLink } from './types.ts'

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

/**
 * An entry of a stream for each event, with the fields id, dataset, received_at and body. The few commands that this takes are
 * spoken here: the replies of Redis to them are one line or one text, and a client for all of Redis reads much more.
 */
export const openRedis: OpenLink<'redis_stream'> = async ({ config, openSocket, place }) => {
  const socket = await openSocket({ units: REDIS, opening: 'tls' })
  const ask = askerOf(socket)
  try {
    for (const command of greeting(place))
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await ask(command)
    // A user may not be allowed to set a name, which is only for the operator of the server.
    ask(['CLIENT', 'SETNAME', 'postroad']).catch(() => undefined)
  } catch (error) {
    socket.destroy()
    throw failureOf(error)
  }
  return {
    isBroken: () => socket.destroyed,
    close: () => void socket.end(),
    send: async (message) => {
      try {
        const answer = await ask(commandOf(config, message))
        return answer === null ? 'The event was already there' : `XADD ${answer}`
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}

function greeting({ user, path }: LinkPlace): readonly (readonly string[])[] {
  const database = path.slice(1) || '0'
  const login = user === null ? [] : [['AUTH', ...(user.name === '' ? [] : [user.name]), user.password]]
  return [...login, ...(database === '0' ? [] : [['SELECT', database]])]
}

type Waiting = { readonly resolve: (reply: string | null) => void; readonly reject: (error: Error) => void }

/** Sends commands, and gives each its reply. Redis replies in the order of the commands. */
function askerOf(socket: GuardedSocket): (command: readonly string[]) => Promise<string | null> {
  const waiting: Waiting[] = []
  socket.on('data', (units: Buffer) => {
    for (let at = 0; at < units.length;) {
      const size = REDIS.sizeOf(units.subarray(at), 0) ?? units.length
      const reply = replyIn(units.subarray(at, at + size))
      const first = waiting.shift()
      if (reply instanceof Error) first?.reject(reply)
      else first?.resolve(reply)
      at += size
    }
  })
  socket.on('close', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('The connection was closed.'))
  })
  return (command) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      socket.write(encoded(command))
      if (socket.destroyed) reject(new Error('The connection was closed.'))
    })
}

const encoded = (command: readonly string[]): string =>
  `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

/** A line, a number or a text; null: nothing. */
function replyIn(unit: Buffer): string | null | Error {
  const line = unit.toString('utf8', 1, unit.indexOf('\r\n'))
  switch (String.fromCharCode(unit[0] ?? 0)) {
    case '+':
    case ':':
      return line
    case '-':
      return new Error(line)
    case '$':
      return line.startsWith('-') ? null : unit.toString('utf8', unit.indexOf('\n') + 1, unit.length - 2)
    default:
      throw new Error(`It begins with ${JSON.stringify(unit.toString('latin1', 0, 1))}.`)
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
