import type { DestinationConfig } from '@postroad/contract'
import { LIMITS } from '@postroad/contract'
import { stopwatch } from '../clock.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import { LinkFailure, linkFailure } from './failure.ts'
import { openLinkOf } from './kinds.ts'
import { Remaining } from './remaining.ts'
import type { Link, LinkMessage, LinkPlace, LinkResult } from './types.ts'

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
  /** Breaks every connection. Sends under way, and all later ones, fail. */
  readonly close: () => void
  readonly stats: () => { readonly links: number; readonly inFlight: number }
}

type Entry = {
  readonly key: string
  readonly opening: Promise<Link>
  readonly stop: AbortController
  link: Link | undefined
  inFlight: number
  usedAt: number
}

const SWEEP_MS = 5_000
const NO_CONNECTION = 'The destination did not accept a connection in time.'
const NO_CONFIRMATION = 'The destination did not confirm the event in time.'
const CLOSING = 'The server is shutting down.'
const FULL = `This server has ${LIMITS.linksMax} connections to destinations, and all are in use. Postroad sends the event later.`

/**
 * The connections to destinations that are not reached by HTTP: one link for each lane, opened at its first event and
 * closed when it is idle.
 */
export function createLinks({ reach }: { readonly reach: OutboundReach }): Links {
  const entries = new Map<string, Entry>()
  /** The links that take no further event and end with their last one. */
  const retired = new Set<Entry>()
  const remaining = new Remaining()
  let closed = false

  const end = (entry: Entry): void => {
    retired.delete(entry)
    entry.stop.abort()
    entry.link?.close()
  }
  const retire = (lane: string, entry: Entry): void => {
    if (entries.get(lane) === entry) entries.delete(lane)
    if (entry.inFlight === 0) end(entry)
    else retired.add(entry)
  }
  const timer = setInterval(() => {
    const now = performance.now()
    for (const [lane, entry] of entries)
      if (entry.inFlight === 0 && now - entry.usedAt > LIMITS.linkIdleMs) retire(lane, entry)
  }, SWEEP_MS).unref()

  const makeRoom = (): boolean => {
    if (entries.size < LIMITS.linksMax) return true
    const idle = [...entries].find(([, entry]) => entry.inFlight === 0)
    if (idle !== undefined) retire(...idle)
    return idle !== undefined
  }

  const open = ({ lane, key, place, config, maxInFlight }: LinkRequest): Entry => {
    const stop = new AbortController()
    const scope = `${lane} ${key}`
    const opening = openLinkOf({ reach, place, config, maxInFlight, scope, remaining, signal: stop.signal })
    const entry: Entry = { key, opening, stop, link: undefined, inFlight: 0, usedAt: performance.now() }
    entries.set(lane, entry)
    opening.then(
      (link) => {
        entry.link = link
        if (stop.signal.aborted) link.close()
      },
      () => retire(lane, entry),
    )
    return entry
  }

  /** The link of the lane. A link with older settings, or a broken one, takes no further event. */
  const entryFor = (request: LinkRequest): Entry => {
    const known = entries.get(request.lane)
    if (known !== undefined && known.key === request.key && known.link?.isBroken() !== true) return known
    if (known !== undefined) retire(request.lane, known)
    if (!makeRoom()) throw new LinkFailure('connection_refused', FULL)
    return open(request)
  }

  /** Sends, and gives up at the timeout. A server that is this slow may be gone, so the next event gets a new connection. */
  async function sendOver(entry: Entry, { lane, message, timeoutMs }: LinkRequest): Promise<string> {
    const late = deadline(timeoutMs, () => {
      retire(lane, entry)
      return entry.link === undefined ? NO_CONNECTION : NO_CONFIRMATION
    })
    entry.inFlight += 1
    try {
      const work = entry.opening.then((link) => {
        // The link opened for another send, and this one has already failed.
        late.signal.throwIfAborted()
        return link.send(message, late.signal)
      })
      return await Promise.race([work, late.passed])
    } finally {
      late.cancel()
      entry.inFlight -= 1
      entry.usedAt = performance.now()
      if (retired.has(entry) && entry.inFlight === 0) end(entry)
    }
  }

  return {
    send: (request) =>
      resultOf(async () => {
        if (closed) throw new LinkFailure('connection_reset', CLOSING)
        return sendOver(entryFor(request), request)
      }),
    close: () => {
      closed = true
      clearInterval(timer)
      for (const entry of [...entries.values(), ...retired]) end(entry)
      entries.clear()
    },
    stats: () => ({
      links: entries.size + retired.size,
      inFlight: [...entries.values(), ...retired].reduce((sum, { inFlight }) => sum + inFlight, 0),
    }),
  }
}

type Deadline = { readonly signal: AbortSignal; readonly passed: Promise<never>; readonly cancel: () => void }

/** `passed` rejects at the timeout with the sentence that `why` returns, and aborts the signal. */
function deadline(timeoutMs: number, why: () => string): Deadline {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new LinkFailure('timeout', why()))
    controller.abort()
  }, timeoutMs)
  return { signal: controller.signal, passed: promise, cancel: () => clearTimeout(timer) }
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
