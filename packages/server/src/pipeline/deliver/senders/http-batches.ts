import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { batchBody, batchHeaders, batchId } from '../../../domain/delivery/delivery-request.ts'
import { secretsToSign } from '../../../domain/delivery/signing-secrets.ts'
import { storedPart } from '../../../domain/delivery/sent-request.ts'
import type { Evidence } from '../payload.ts'
import type { SendResult } from '../ports.ts'
import type { Target } from '../target.ts'
import { Batches } from './batches.ts'
import { textOf, type Prepared, type SendPrepared } from './types.ts'

type Sent = { readonly id: string; readonly size: number; readonly result: SendResult }

/** The bytes around and between the bodies. */
const BETWEEN_BYTES = 2

/**
 * Sends one request with the events of many attempts (ADR 422). An attempt waits for the others of its batch, and ends as their request.
 * The batches of an ordered destination leave one after another.
 */
export function createBatchSender(
  deps: Deps,
  sendHttp: SendPrepared,
): { readonly send: SendPrepared; readonly endWaits: () => void } {
  const lines = new Lines()
  const batches = new Batches<Prepared, Sent>(deps.clock, (gathered) => sendBatch(gathered))
  const generations = new Generations()

  const sendBatch = async (gathered: readonly Prepared[]): Promise<Sent> => {
    // In the order in which the events were received, so that the same events are the same batch again.
    const items = gathered.toSorted((one, other) => (one.event.id < other.event.id ? -1 : 1))
    const [first] = items
    if (first === undefined) throw new Error('A batch has at least one event.')
    const id = batchId(items.map(({ event }) => event.id))
    const send = async (): Promise<SendResult> =>
      sendHttp({
        ...first,
        request: requestOf(deps, { id, items, first }),
        timeLeft: () => Math.min(...items.map(({ timeLeft }) => timeLeft())),
      })
    const result = await (first.target.ordered ? lines.after(first.lane, send) : send())
    return { id, size: items.length, result }
  }

  const send: SendPrepared = async (prepared) => {
    const { target, lane, request, passed, timeLeft } = prepared
    const { max, linger_ms } = target.batch ?? { max: 1, linger_ms: 0 }
    const { id, size, result } = await batches.add(prepared, {
      // The chain of an event must reach the next service, so events with another one go into another request.
      key: JSON.stringify([lane, generations.of(target), passed.chain]),
      bytes: Buffer.byteLength(request.body) + BETWEEN_BYTES,
      itemsMax: Math.min(max, target.maxInFlight),
      bytesMax: LIMITS.requestBatchBytesMax,
      // The wait is beside the timeout, which is for the request.
      lingerMs: Math.max(0, Math.min(linger_ms, timeLeft() - request.timeoutMs)),
    })
    return partOf(result, { id, size, ...request })
  }
  return { send, endWaits: () => batches.endWaits() }
}

type ToRequest = { readonly id: string; readonly items: readonly Prepared[]; readonly first: Prepared }

function requestOf({ clock, deliveryUserAgent }: Deps, { id, items, first }: ToRequest): Prepared['request'] {
  const { target, passed, request } = first
  const body = batchBody(items.map((item) => textOf(item.request)))
  const headers = batchHeaders({
    own: target.headers,
    id,
    size: items.length,
    hops: Math.max(...items.map((item) => item.passed.hops)),
    chain: passed.chain,
    body,
    secrets: secretsToSign(target.secrets, clock.now()),
    keys: target.keys === null ? [] : secretsToSign(target.keys, clock.now()),
    signing: target.signing,
    userAgent: deliveryUserAgent,
    now: clock.wall(),
  })
  return { ...request, headers, body, form: null, reason: null }
}

/** The result of the request, with the part of this event as evidence. */
function partOf(result: SendResult, part: Parameters<typeof storedPart>[1] & Prepared['request']): SendResult {
  if (result.type === 'unsent') return result
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by the HTTP sender
  const evidence = result.evidence as Evidence
  const { id, size, body, form, reason } = part
  return {
    ...result,
    evidence: { ...evidence, request: storedPart(evidence.request, { id, size, body, form, reason }) },
  }
}

/** One thing after another for each lane. */
class Lines {
  readonly #last = new Map<string, Promise<unknown>>()

  async after<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(lane) ?? Promise.resolve()
    const done = before.then(work, work)
    this.#last.set(lane, done)
    try {
      return await done
    } finally {
      if (this.#last.get(lane) === done) this.#last.delete(lane)
    }
  }
}

/** A number for each state of a destination, so that a batch has one secret and one URL. */
class Generations {
  readonly #known = new WeakMap<Target, number>()
  #next = 0

  of(target: Target): number {
    const known = this.#known.get(target) ?? (this.#next += 1)
    this.#known.set(target, known)
    return known
  }
}
