import { LIMITS, type OriginError } from '@postroad/contract'
import type { WebSocket } from 'ws'
import { reconnectPause } from '../../../domain/sources/backoff.ts'
import type { WsSecret } from '../../../domain/sources/secret.ts'
import { UnreachableError } from '../../../platform/address-guard.ts'
import { openWebSocket } from '../../../platform/outbound/websocket.ts'
import { openWsSecret } from '../../../resources/sources/ws-triggers/index.ts'
import { connectionFailure } from '../readers/http.ts'
import {
  countFiled,
  isBatchStored,
  releaseWsTrigger,
  renewWsTrigger,
  type ClaimedWsTrigger,
  type Counts,
} from '../../../resources/sources/ws-triggers/queries.ts'
import { fromOrigin } from '../../capture/from-origin.ts'
import { matching } from '../matching.ts'
import { refusalOf } from '../outcome.ts'
import { Overtaken, type SourceDeps } from '../ports.ts'
import { payloadText } from './frame.ts'
import { FrameQueue } from './queue.ts'
import { Timers } from '../timers.ts'

const STORED_AT_ONCE = 200
const AGAIN_MS = 1_000
/** A connection that lasted this long was a good one. */
const WELL_MS = 60_000
const NORMAL = 1000

/** `failed`: the connection broke. `stopped`: this process ends. `overtaken`: the claim is lost, or the trigger must stop. */
type Ending = 'failed' | 'stopped' | 'overtaken'

/** The commit of this batch succeeded before, and its answer was lost. Rolls the events back. */
class StoredAlready extends Error {}

/** One claimed trigger, and its connection. */
export class Listener {
  readonly #deps: SourceDeps
  readonly #trigger: ClaimedWsTrigger
  readonly #queue = new FrameQueue({ framesMax: LIMITS.wsQueueFramesMax, bytesMax: LIMITS.wsQueueBytesMax })
  readonly #timers: Timers
  readonly #ended = Promise.withResolvers<undefined>()
  #socket: WebSocket | undefined
  #connectedAt: Date | null = null
  #lastMessageAt: Date | null = null
  #lastSignAt = 0
  #received = 0
  /** The number of messages of this connection that are stored. */
  #stored = 0
  /** The size of a batch whose commit may have succeeded without an answer: the same one is tried again. */
  #unanswered: number | undefined
  #error: OriginError | undefined
  #storing: Promise<void> | undefined
  #ending: Ending | undefined

  constructor(deps: SourceDeps, trigger: ClaimedWsTrigger) {
    this.#deps = deps
    this.#trigger = trigger
    this.#timers = new Timers(deps.clock)
    void this.#connect()
  }

  /** Resolves when the connection has ended and its claim was given back. It never rejects. */
  get ended(): Promise<undefined> {
    return this.#ended.promise
  }

  /** Writes the counts and extends the lease. A claim that is lost ends the connection with 1000. */
  async renew(until: Date): Promise<void> {
    if (this.#ending !== undefined) return
    const counts = this.#takeCounts()
    try {
      const renewed = await renewWsTrigger(this.#deps.database, { ...this.#claim, until, counts })
      if (renewed === 0) this.#end('overtaken')
    } catch (cause) {
      // The counts of a second are lost, but the connection stays.
      this.#deps.retryLog.warn('ws_trigger.not_renewed', { cause })
    }
  }

  /** Closes the connection, stores the messages that arrived, and releases the claim for other processes. */
  stop(): Promise<undefined> {
    this.#end('stopped')
    return this.ended
  }

  get #claim() {
    const { workspace_id: workspaceId, project_id: projectId, id, fence } = this.#trigger
    return { workspaceId, projectId, id, fence }
  }

  async #connect(): Promise<void> {
    const { url, max_payload_bytes: maxPayload } = this.#trigger
    try {
      const secret = openWsSecret(this.#deps, this.#trigger)
      const headers = { 'user-agent': this.#deps.deliveryUserAgent, ...secret.headers }
      const socket = await openWebSocket(this.#deps.reach, { url, headers, maxPayload })
      socket.on('open', () => this.#opened(socket, secret))
      socket.on('message', (data: Buffer, isBinary) => this.#heard(data, isBinary))
      socket.on('pong', () => this.#alive())
      socket.on('ping', () => this.#alive())
      socket.on('error', (error) => this.#fail('connection_failed', connectionFailure(error).message))
      socket.on('close', (code, reason) => this.#closed(code, reason.toString()))
      this.#socket = socket
      if (this.#ending !== undefined) socket.terminate()
    } catch (error) {
      if (error instanceof UnreachableError) this.#fail(error.code, error.message)
      else this.#fail('connection_failed', connectionFailure(error).message)
    }
  }

  #opened(socket: WebSocket, { subscribe }: WsSecret): void {
    const { clock } = this.#deps
    this.#connectedAt = new Date(clock.now())
    this.#alive()
    for (const message of subscribe) socket.send(message)
    const { heartbeat, stale_seconds: staleSeconds } = this.#trigger
    if (heartbeat !== null)
      this.#timers.every(heartbeat.every_seconds * 1_000, () => {
        if (heartbeat.message === null) socket.ping()
        else socket.send(heartbeat.message)
      })
    this.#timers.every(AGAIN_MS, () => {
      if (clock.now() - this.#lastSignAt < staleSeconds * 1_000) return
      this.#fail('stale', `Nothing arrived for ${staleSeconds} seconds, so Postroad reconnects.`)
    })
  }

  #alive(): void {
    this.#lastSignAt = this.#deps.clock.now()
  }

  #heard(data: Buffer, isBinary: boolean): void {
    if (this.#ending !== undefined) return
    this.#alive()
    this.#lastMessageAt = new Date(this.#deps.clock.now())
    this.#received += 1
    this.#queue.push(payloadText(data, isBinary))
    this.#storing ??= this.#drain().finally(() => {
      this.#storing = undefined
    })
  }

  /** Stores the waiting messages, batch after batch. A batch that cannot be stored at the moment waits in the queue. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0 && this.#ending !== 'overtaken') {
      const batch = this.#queue.oldest(this.#unanswered ?? STORED_AT_ONCE)
      try {
        // oxlint-disable-next-line no-await-in-loop -- in the order of arrival
        await this.#storeOnce(batch)
        this.#queue.remove(batch.length)
        this.#stored += batch.length
        this.#unanswered = undefined
      } catch (cause) {
        if (cause instanceof Overtaken) return this.#end('overtaken')
        this.#unanswered = batch.length
        this.#deps.retryLog.warn('ws_trigger.not_stored', { cause })
        if (this.#ending !== undefined) return this.#queue.abandon()
        // oxlint-disable-next-line no-await-in-loop -- the same batch again
        await this.#timers.pause(AGAIN_MS)
      }
    }
  }

  async #storeOnce(batch: readonly string[]): Promise<void> {
    try {
      await this.#store(batch)
    } catch (cause) {
      if (!(cause instanceof StoredAlready)) throw cause
    }
  }

  async #store(frames: readonly string[]): Promise<void> {
    const batch = { after: this.#stored, upTo: this.#stored + frames.length }
    const now = this.#deps.clock.now()
    const { workspaceId, projectId, id } = this.#claim
    const { dataset, customer, conditions } = this.#trigger
    const texts = await matching(this.#deps, { workspaceId, texts: frames, conditions })
    const origin = { kind: 'ws_trigger', id } as const
    const made = { workspaceId, projectId, dataset, origin, receivedAt: now, customer }
    const events = texts.map((text) => fromOrigin({ ...made, text }))
    await this.#deps.acceptAll(events, async (tx, outcomes) => {
      const refusals = outcomes.flatMap((outcome) => refusalOf(outcome, new Date(now)) ?? [])
      const counts = {
        ...NOTHING,
        filed: events.length - refusals.length,
        dropped: refusals.length,
        error: refusals.at(-1),
      }
      if ((await countFiled(tx, { ...this.#claim, counts, batch })) > 0) return
      throw (await isBatchStored(tx, { ...this.#claim, batch })) ? new StoredAlready() : new Overtaken()
    })
  }

  /** The counts since the last write. */
  #takeCounts(): Counts {
    const received = this.#received
    this.#received = 0
    return {
      received,
      filed: 0,
      dropped: this.#queue.takeDropped(),
      lastMessageAt: this.#lastMessageAt,
      connectedAt: this.#connectedAt,
      error: this.#error,
    }
  }

  #fail(reason: string, error: string): void {
    if (this.#ending !== undefined) return
    this.#error = { at: new Date(this.#deps.clock.now()).toISOString(), reason, error }
    this.#end('failed')
  }

  #closed(code: number, reason: string): void {
    const said = reason === '' ? '' : ` The server says: ${reason.slice(0, 120)}`
    this.#fail('closed', `The server closed the connection with code ${code}.${said}`)
  }

  #end(why: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = why
    this.#timers.clear()
    if (why === 'failed') this.#socket?.terminate()
    else this.#socket?.close(NORMAL)
    void this.#release()
  }

  async #release(): Promise<void> {
    const { clock, random, database, retryLog } = this.#deps
    try {
      await this.#storing
      this.#queue.abandon()
      const now = clock.now()
      const failed = this.#ending === 'failed'
      const failures = failed ? (this.#wasGood(now) ? 1 : this.#trigger.failures + 1) : 0
      const connectAt = new Date(now + (failed ? reconnectPause(failures, random()) : 0))
      await releaseWsTrigger(database, { ...this.#claim, counts: this.#takeCounts(), failures, connectAt })
    } catch (cause) {
      // The lease ends by itself.
      retryLog.warn('ws_trigger.not_released', { cause })
    }
    this.#ended.resolve(undefined)
  }

  #wasGood(now: number): boolean {
    if (this.#connectedAt === null) return false
    return this.#lastMessageAt !== null || now - this.#connectedAt.getTime() >= WELL_MS
  }
}

const NOTHING = { received: 0, lastMessageAt: null, connectedAt: null } as const
