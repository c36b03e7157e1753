import type { DestinationConfig } from '@postroad/contract'
import { LIMITS } from '@postroad/contract'
import { stopwatch } from '../clock.ts'
import type { Budget, GuardedSocket } from '../guarded/guarded-socket.ts'
import { openGuarded } from '../guarded/open.ts'
import { tlsOptions } from '../guarded/tls.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import { LinkFailure, linkFailure } from './failure.ts'
import { openLinkOf } from './kinds.ts'
import { Remaining } from './remaining.ts'
import type { Link, LinkMessage, LinkPlace, LinkResult, OpenSocket } from './types.ts'

/** How much of what a server sends this process reads. */
export type LinkBudget = Pick<Budget, 'unitBytesMax' | 'answerBytesMax'>

export type LinkRequest = {
  /** Each lane has its own link, so that a slow destination does not delay another one. */
  readonly lane: string
  /** Changes whenever the address, the credentials or the settings do. It reveals none of them. */
  readonly key: string
  readonly place: LinkPlace
  readonly config: DestinationConfig
  readonly maxInFlight: number
  readonly message: LinkMessage
  /** From the call to the answer, including the time that a connection takes. */
  readonly timeoutMs: number
}

export type Links = {
  /** Never rejects. */
  readonly send: (request: LinkRequest) => Promise<LinkResult>
  /** These lanes pause, so their connections end after the sends under way. */
  readonly retire: (lanes: readonly string[]) => void
  /** These destinations do not exist any more. Breaks their connections; sends under way fail. */
  readonly cut: (lanes: readonly string[]) => void
  /** Breaks every connection. Sends under way, and all later ones, fail. */
  readonly close: () => void
  readonly stats: () => { readonly links: number; readonly inFlight: number }
}

type LinksOptions = { readonly reach: OutboundReach; readonly budget?: LinkBudget | undefined }

type Entry = {
  readonly lane: string
  readonly key: string
  readonly opening: Promise<Link>
  /** Destroys the sockets. */
  readonly stop: AbortController
  readonly sockets: Set<GuardedSocket>
  readonly underWay: Set<Deadline>
  link: Link | undefined
  usedAt: number
}

const SWEEP_MS = 5_000
/** A server has this long to read that the link closes. */
const FAREWELL_MS = 500
const NO_CONNECTION = 'The destination did not accept a connection in time.'
const NO_CONFIRMATION = 'The destination did not confirm the event in time.'
const DELETED = 'The destination was deleted.'
const CLOSING = 'The server is shutting down.'
const FULL = `This server has ${LIMITS.linksMax} connections to destinations, and all are in use. Postroad sends the event later.`

/**
 * The connections to destinations that are not reached by HTTP: one link for each lane, opened at its first event and
 * closed when it is idle. The pool owns the sockets of a link, so a link ends whatever its driver or its server does.
 */
export function createLinks({ reach, budget = BUDGET }: LinksOptions): Links {
  const entries = new Map<string, Entry>()
  /** The links that take no further event and end with their last one. */
  const retired = new Set<Entry>()
  const remaining = new Remaining()
  let closed = false

  const end = (entry: Entry): void => {
    retired.delete(entry)
    entry.link?.close()
    setTimeout(() => entry.stop.abort(), entry.link === undefined ? 0 : FAREWELL_MS).unref()
  }
  const retire = (entry: Entry): void => {
    if (entries.get(entry.lane) === entry) entries.delete(entry.lane)
    if (entry.underWay.size === 0) end(entry)
    else retired.add(entry)
  }
  const breakOff = (entry: Entry, reason: LinkFailure): void => {
    for (const { fail } of entry.underWay) fail(reason)
    retire(entry)
    entry.stop.abort()
  }
  const all = (): readonly Entry[] => [...entries.values(), ...retired]
  const timer = setInterval(() => {
    const now = performance.now()
    for (const entry of entries.values())
      if (entry.underWay.size === 0 && now - entry.usedAt > LIMITS.linkIdleMs) retire(entry)
  }, SWEEP_MS).unref()

  const makeRoom = (): boolean => {
    if (entries.size < LIMITS.linksMax) return true
    const idle = [...entries.values()].find(({ underWay }) => underWay.size === 0)
    if (idle !== undefined) retire(idle)
    return idle !== undefined
  }

  /** The link of the lane. A link with older settings, or a broken one, takes no further event. */
  const entryFor = (request: LinkRequest): Entry => {
    const known = entries.get(request.lane)
    if (known !== undefined && known.key === request.key && known.link?.isBroken() !== true) return known
    if (known !== undefined) retire(known)
    if (!makeRoom()) throw new LinkFailure('connection_refused', FULL)
    const entry = openEntry(request, { reach, budget, remaining, retire, breakOff })
    entries.set(entry.lane, entry)
    return entry
  }

  /** Sends, and gives up at the timeout. A server that is this slow may be gone, so the next event gets a new connection. */
  async function sendOver(entry: Entry, { message, timeoutMs }: LinkRequest): Promise<string> {
    const late = deadline(timeoutMs, () => {
      retire(entry)
      return entry.link === undefined ? NO_CONNECTION : NO_CONFIRMATION
    })
    entry.underWay.add(late)
    for (const socket of entry.sockets) socket.startAnswer()
    try {
      const work = entry.opening.then((link) => {
        // The link opened for another send, and this one has already failed.
        late.signal.throwIfAborted()
        return link.send(message, late.signal)
      })
      return await Promise.race([work, late.passed])
    } finally {
      late.cancel()
      entry.underWay.delete(late)
      entry.usedAt = performance.now()
      if (retired.has(entry) && entry.underWay.size === 0) end(entry)
    }
  }

  return {
    send: (request) =>
      resultOf(async () => {
        if (closed) throw new LinkFailure('connection_reset', CLOSING)
        return sendOver(entryFor(request), request)
      }),
    retire: (lanes) => {
      for (const entry of all()) if (lanes.includes(entry.lane)) retire(entry)
    },
    cut: (lanes) => {
      for (const entry of all())
        if (lanes.includes(entry.lane)) breakOff(entry, new LinkFailure('connection_reset', DELETED))
    },
    close: () => {
      closed = true
      clearInterval(timer)
      for (const entry of all()) breakOff(entry, new LinkFailure('connection_reset', CLOSING))
    },
    stats: () => ({
      links: entries.size + retired.size,
      inFlight: all().reduce((sum, { underWay }) => sum + underWay.size, 0),
    }),
  }
}

type Pool = {
  readonly reach: OutboundReach
  readonly budget: LinkBudget
  readonly remaining: Remaining
  readonly retire: (entry: Entry) => void
  readonly breakOff: (entry: Entry, reason: LinkFailure) => void
}

/** Opens the link, and collects its sockets. */
function openEntry({ lane, key, place, config, maxInFlight }: LinkRequest, pool: Pool): Entry {
  const { reach, budget, remaining } = pool
  const stop = new AbortController()
  const openSocket: OpenSocket = async (wanted) => {
    const socket = await openGuarded(reach, { ...place, ...budget, ...wanted, signal: stop.signal })
    entry.sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      entry.sockets.delete(socket)
      if (socket.breach !== undefined) pool.breakOff(entry, linkFailure(socket.breach))
    })
    return socket
  }
  const opening = openLinkOf({
    openSocket,
    tlsOptions: () => tlsOptions(place, reach.ca),
    place,
    config,
    maxInFlight,
    scope: `${lane} ${key}`,
    remaining,
    signal: stop.signal,
  })
  const made = { underWay: new Set<Deadline>(), sockets: new Set<GuardedSocket>(), usedAt: performance.now() }
  const entry: Entry = { lane, key, opening, stop, link: undefined, ...made }
  opening.then(
    (link) => {
      entry.link = link
      if (stop.signal.aborted) link.close()
    },
    () => pool.retire(entry),
  )
  return entry
}

const BUDGET: LinkBudget = { unitBytesMax: LIMITS.linkUnitBytesMax, answerBytesMax: LIMITS.linkAnswerBytesMax }

type Deadline = {
  readonly signal: AbortSignal
  readonly passed: Promise<never>
  readonly cancel: () => void
  readonly fail: (reason: LinkFailure) => void
}

/** `passed` rejects at the timeout with the sentence that `why` returns, or with an earlier reason, and aborts the signal. */
function deadline(timeoutMs: number, why: () => string): Deadline {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const fail = (reason: LinkFailure): void => {
    reject(reason)
    controller.abort()
  }
  const timer = setTimeout(() => fail(new LinkFailure('timeout', why())), timeoutMs)
  return { signal: controller.signal, passed: promise, cancel: () => clearTimeout(timer), fail }
}

async function resultOf(work: () => Promise<string>): Promise<LinkResult> {
  const durationMs = stopwatch()
  try {
    const text = await work()
    return { kind: 'accepted', text, durationMs: durationMs() }
  } catch (error) {
    const { code, message, isPermanent } = linkFailure(error)
    return { kind: 'failure', code, detail: message, isPermanent, durationMs: durationMs() }
  }
}
