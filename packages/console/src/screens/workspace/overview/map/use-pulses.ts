import { useContext, useEffect, useState } from 'react'
import type { Filed, SeenDelivery, Tail } from '../../../../data/tail.ts'
import { TailContext } from '../../../../data/use-tail.ts'
import { lineKey } from './graph.ts'

/** A line over which an event went just now; `count` makes each pulse a new one. */
export type Pulse = { readonly count: number; readonly isBad: boolean }
export type Pulses = ReadonlyMap<string, Pulse>

const SHOWN_MS = 1_600
const TOGETHER_MS = 100
/** The newest records whose deliveries are watched. */
const WATCHED_MAX = 100
export const NO_PULSES: Pulses = new Map()

type Origin = { readonly kind: string; readonly id: string } | null | undefined
type Streamed = Filed & { readonly origin?: Origin }

/** The lines that the live stream reports as in use: those into a dataset, and those of attempts that have ended. */
export function usePulses(): Pulses {
  const tail = useContext(TailContext)
  const [pulses, setPulses] = useState(NO_PULSES)
  useEffect(() => {
    if (tail === undefined) return undefined
    const seen = new Seen()
    seen.read(tail)
    const timers = new Set<ReturnType<typeof setTimeout>>()
    const later = (act: () => void, ms: number): void => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        act()
      }, ms)
      timers.add(timer)
    }
    let isReading = false
    const read = (): void => {
      isReading = false
      const news = seen.read(tail)
      if (news.size === 0) return
      setPulses((before) => new Map([...before, ...news]))
      later(() => setPulses((now) => without(now, news)), SHOWN_MS)
    }
    // Many events a second are drawn together.
    const unsubscribe = tail.subscribe(() => {
      if (!isReading) later(read, TOGETHER_MS)
      isReading = true
    })
    return () => {
      unsubscribe()
      for (const timer of timers) clearTimeout(timer)
    }
  }, [tail])
  return pulses
}

/** The pulses that are left when some have been shown. One that came again meanwhile stays. */
function without(pulses: Pulses, shown: Pulses): Pulses {
  return new Map([...pulses].filter(([key, { count }]) => shown.get(key)?.count !== count))
}

class Seen {
  #number: number | undefined
  #count = 0
  readonly #states = new Map<string, string>()

  /** The lines with something new since the last call. The first call only learns what is known. */
  read(tail: Tail): Pulses {
    const isFirst = this.#number === undefined
    const news = new Map<string, Pulse>()
    const pulse = (key: string, isBad: boolean): void => {
      this.#count += 1
      if (!isFirst) news.set(key, { count: this.#count, isBad })
    }
    let watched = 0
    const last = this.#number ?? 0
    for (const arrival of tail.arrivals) {
      if (arrival.kind !== 'record') continue
      watched += 1
      if (watched > WATCHED_MAX) break
      if (arrival.number > last) for (const key of linesInto(arrival.record)) pulse(key, false)
      for (const delivery of tail.deliveries.get(arrival.record.id)?.values() ?? [])
        if (this.#isNew(delivery)) pulse(lineOut(arrival.record, delivery), delivery.state !== 'delivered')
    }
    this.#number = tail.arrivals[0]?.number ?? last
    return news
  }

  #isNew({ id, state, updated_at }: SeenDelivery): boolean {
    const isEnded = state === 'delivered' || state === 'failed' || state === 'retrying'
    if (!isEnded || this.#states.get(id) === updated_at) return false
    this.#states.set(id, updated_at)
    if (this.#states.size > 20 * WATCHED_MAX) for (const first of this.#states.keys()) return this.#states.delete(first)
    return true
  }
}

function linesInto({ webhook_id, origin, dataset }: Streamed): readonly string[] {
  const to = { kind: 'dataset', id: dataset } as const
  if (webhook_id !== null && webhook_id !== undefined)
    return [lineKey({ from: { kind: 'webhook', id: webhook_id }, to })]
  const kind = origin?.kind
  if (origin === null || origin === undefined) return []
  if (kind !== 'source' && kind !== 'cron_trigger' && kind !== 'ws_trigger') return []
  return [lineKey({ from: { kind, id: origin.id }, to })]
}

function lineOut({ dataset }: Filed, { destination_id: id }: SeenDelivery): string {
  return lineKey({ from: { kind: 'dataset', id: dataset }, to: { kind: 'destination', id } })
}
