import type pg from 'pg'
import { LogicalReplicationService, PgoutputPlugin, type Pgoutput } from 'pg-logical-replication'
import { LIMITS } from '@postroad/contract'
import { ForeignFailure } from '../../foreign-failure.ts'
import type { OutboundReach } from '../../outbound-reach.ts'
import { POSTGRES } from '../../guarded/units.ts'
import { clientConfigOf } from '../postgres-client.ts'
import { openSocket } from '../socket.ts'
import type { DatabasePlace } from '../types.ts'
import { lsnOf, lsnText } from './lsn.ts'
import { SESSION } from './session.ts'

export type ReplicationMessage = Pgoutput.Message

export type ReplicationAsked = {
  readonly reach: OutboundReach
  readonly place: DatabasePlace
  readonly slot: string
  readonly publication: string
  /** Everything up to this commit is stored. */
  readonly stored: bigint
  readonly signal: AbortSignal
}

export type ReplicationEvents = {
  /** Gets one message after another. The next one is not read before the promise is resolved. */
  readonly message: (message: ReplicationMessage) => Promise<void> | undefined
  /** The server has sent everything that was committed before this position, and `message` was called for all of it. */
  readonly quiet: (lsn: bigint) => void
}

export type Replication = {
  /** Reports that everything up to this commit is stored. The server then forgets it. */
  readonly acknowledge: (commit: bigint) => void
  /** Reports again what is stored, so that the server does not end the connection, and asks for its position. */
  readonly ping: () => void
  /** Rejects when the replication ends. */
  readonly ended: Promise<never>
  close(): void
}

/**
 * Reads a slot with the plugin pgoutput. By itself, the library acknowledges everything that it has received, so its
 * automatic reports are off: only `acknowledge` moves the slot.
 */
export async function openReplication(asked: ReplicationAsked, events: ReplicationEvents): Promise<Replication> {
  const { reach, place, slot, publication, signal } = asked
  const socket = await openSocket({ reach, place, signal, ...BUDGET, opening: 'postgres' })
  const service = new LogicalReplicationService(clientConfigOf({ place, socket }), {
    acknowledge: { auto: false, timeoutSeconds: 0 },
    flowControl: { enabled: true },
  })
  let { stored } = asked
  let [arrived, handled] = [0, 0]
  const ended = Promise.withResolvers<never>()
  // Only those who wait for it care about its rejection.
  ended.promise.catch(() => undefined)
  const close = (): void => {
    signal.removeEventListener('abort', close)
    socket.destroy()
    service.destroy().catch(() => undefined)
    ended.reject(new Error('it was closed'))
  }
  signal.addEventListener('abort', close)

  // The library reports one byte more than it is given: the byte after the start of the record of the commit.
  const report = (ping: boolean): void => void service.acknowledge(lsnText(stored), ping).catch(() => undefined)
  const broke = (error: unknown): void =>
    ended.reject(socket.breach?.code === 'response_too_large' ? tooLarge() : error)
  service.on('error', broke)
  service.on('data', async (_lsn: string, message: ReplicationMessage) => {
    try {
      await events.message(message)
      handled += 1
    } catch (error) {
      // Without this, the library would continue with the next message.
      ended.reject(error)
      close()
    }
  })
  service.on('heartbeat', (lsn: string, _time: number, shouldRespond: boolean) => {
    // A server that asks and does not read would fill the memory with responses.
    if (shouldRespond && !socket.writableNeedDrain) report(false)
    if (arrived === handled) events.quiet(lsnOf(lsn))
  })
  const plugin = new ExactPlugin(publication, {
    arrived: () => {
      arrived += 1
    },
    failed: (error) => {
      ended.reject(error)
      close()
    },
  })
  const started = new Promise<void>((resolve) => service.on('start', () => resolve()))
  service.subscribe(plugin, slot).then(() => ended.reject(new Error('the server ended it')), broke)
  if (signal.aborted) close()
  await Promise.race([started, ended.promise])
  return {
    acknowledge: (commit) => {
      if (commit > stored) stored = commit
      report(false)
    },
    ping: () => report(true),
    ended: ended.promise,
    close,
  }
}

const tooLarge = (): ForeignFailure =>
  new ForeignFailure(
    'change_too_large',
    `A change of a row has more than ${LIMITS.sourceChangeBytesMax / 1_048_576} MiB, which does not fit into memory. Leave the column out of the publication (alter publication … set table … (columns)), then send restart: true.`,
  )

/** A message of the protocol is one change. */
const BUDGET = { units: POSTGRES, unitBytesMax: LIMITS.sourceChangeBytesMax, answerBytesMax: Infinity }

type Watch = { readonly arrived: () => void; readonly failed: (error: unknown) => void }

/** Replaces a message that could not be read. */
const NOTHING: ReplicationMessage = { tag: 'origin', originLsn: null, originName: '' }

/** Values stay as PostgreSQL writes them. */
class ExactPlugin extends PgoutputPlugin {
  readonly #watch: Watch

  constructor(...[publication, watch]: readonly [string, Watch]) {
    super({ protoVersion: 1, publicationNames: [`"${publication}"`] })
    this.#watch = watch
  }

  /** An exception would end the process here: the library calls this in an event of the socket. */
  override parse(buffer: Buffer): ReplicationMessage {
    this.#watch.arrived()
    try {
      const message = super.parse(buffer)
      // The library stores this object as the description of the table.
      if (message.tag === 'relation') for (const column of message.columns) column.parser = (text: string) => text
      return message
    } catch (error) {
      this.#watch.failed(error)
      return NOTHING
    }
  }

  // oxlint-disable-next-line max-params -- the signature of the library
  override async start(client: pg.Client, slot: string, lsn: string): Promise<unknown> {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    for (const statement of SESSION) await client.query(statement)
    // oxlint-disable-next-line typescript/no-unsafe-return -- the result of the statement, which nobody uses
    return super.start(client, slot, lsn)
  }
}
