import type { Deps } from '../../context.ts'
import type { LaneAt as Lane } from '../../resources/delivery/lanes/queries.ts'
import type { BeginFirst } from '../types.ts'
import { createBeginFirst } from './first-attempts.ts'
import { DELIVER_LIMITS, type DeliverLimits } from './limits.ts'
import { DeliveryMachine, type DeliveryLoad } from './machine.ts'
import type { Answer, Effect, Event } from './ports.ts'
import { createPostgresStore } from './postgres-store.ts'
import { laneAt, laneKey } from './postgres-rows.ts'
import { createSender } from './send.ts'
import type { Stalled } from './store-health.ts'

export type DeliveryLoopOptions = {
  readonly owner: string
  /** Limits that differ from `DELIVER_LIMITS`. */
  readonly limits?: Partial<DeliverLimits> | undefined
  /** Notifies the other owners that this process gave these lanes back for them. */
  readonly offer: (lanes: readonly Lane[]) => void
}

export type DeliveryLoop = {
  start(): void
  /** There may be work in these lanes. */
  readonly hint: (lanes: readonly Lane[]) => void
  /** Starts first attempts with the commit of their deliveries. */
  readonly beginFirst: BeginFirst
  /** Another owner has given these lanes back because it has more than its share. */
  readonly offered: (lanes: readonly Lane[]) => void
  /** The destinations of these lanes changed. `disabled`: they were turned off, so nothing more starts. */
  changed(lanes: readonly Lane[], disabled: boolean): void
  /** Starts no new attempts. Requests under way end and are settled, then every lane is given back. */
  stop(): Promise<void>
  load(): DeliveryLoad
  /** The store call that this process could not complete for too long; undefined while all is well. */
  stalled(): Stalled | undefined
}

/** As many lanes as fit into one NOTIFY. Sweeps find the others. */
const OFFERED_MAX = 64

/** Drives the delivery machine: turns its effects into I/O, and the answers into events. It makes no decision itself. */
export function createDeliveryLoop(deps: Deps, options: DeliveryLoopOptions): DeliveryLoop {
  const limits = { ...DELIVER_LIMITS, ...options.limits }
  const machine = new DeliveryMachine({ owner: options.owner, random: deps.random, limits })
  const store = createPostgresStore(deps)
  const sender = createSender(deps)
  const stopped = Promise.withResolvers<void>()
  let cancelTimer = nothing

  // The machine's time never goes back, even if the database's clock does.
  let latest = -Infinity
  const now = (): number => (latest = Math.max(latest, deps.clock.now()))
  const { handle, gather } = inRounds((events) => {
    for (const effect of machine.handleAll(events, now())) perform(effect)
  })
  const beginFirst = createBeginFirst(deps, {
    arriving: (arrivals) => machine.arriving(arrivals, now()),
    turned: (op, answer) => gather({ type: 'turned', op, answer }),
  })
  const ask = <T>(op: number, operation: Promise<Answer<T>>, event: (answer: Answer<T>) => Event): void => {
    const failed = (cause: unknown): void => {
      deps.retryLog.error('delivery.store_failed', { op, cause })
      handle(event({ outcome: 'unknown' }))
    }
    operation.then((answer) => handle(event(answer)), failed)
  }
  const perform = (effect: Effect): void => {
    switch (effect.type) {
      case 'lease':
        return ask(effect.op, store.lease(effect.input), (answer) => ({ type: 'leased', op: effect.op, answer }))
      case 'renew':
        return ask(effect.op, store.renew(effect.input), (answer) => ({ type: 'renewed', op: effect.op, answer }))
      case 'release':
        return ask(effect.op, store.release(effect.input), (answer) => {
          if (answer.outcome === 'done' && effect.offered.length > 0)
            options.offer(effect.offered.slice(0, OFFERED_MAX).map(laneAt))
          return { type: 'released', op: effect.op, answer }
        })
      case 'read':
        return ask(effect.op, store.read(effect.input), (answer) => ({ type: 'read', op: effect.op, answer }))
      case 'turn':
        return ask(effect.op, store.turn(effect.input), (answer) => ({ type: 'turned', op: effect.op, answer }))
      case 'send': {
        const { attempt, timeout_ms: timeoutMs, ends_in_ms: endsInMs } = effect
        return void sender
          .send(attempt, { timeoutMs, endsInMs })
          .then((result) => gather({ type: 'responded', attempt_id: attempt.attempt_id, result }))
      }
      case 'cut':
        // The process is about to end, and every other user of the outbound client has ended.
        deps.links.close()
        void deps.customersOutbound.close()
        return void deps.outbound.close()
      case 'sleep':
        cancelTimer()
        cancelTimer = deps.clock.wakeAt(effect.until, () => handle({ type: 'woke' }))
        return
      case 'stopped':
        cancelTimer()
        stopped.resolve()
    }
  }

  const hint = (lanes: readonly Lane[]): void => handle({ type: 'hinted', lanes: lanes.map(laneKey) })

  return {
    start: () => handle({ type: 'woke' }),
    hint,
    beginFirst,
    offered: (lanes) => handle({ type: 'offered', lanes: lanes.map(laneKey) }),
    changed: (lanes, disabled) => {
      sender.forget(lanes.map((lane) => lane.destinationId))
      handle(
        disabled
          ? { type: 'disabled', lanes: lanes.map(laneKey) }
          : { type: 'hinted', about: 'settings', lanes: lanes.map(laneKey) },
      )
    },
    stop: () => {
      handle({ type: 'stop' })
      sender.endWaits()
      return stopped.promise
    },
    load: () => machine.load,
    stalled: () => machine.stalled(Math.max(latest, deps.clock.now())),
  }
}

/**
 * Answers that arrive in one round of the event loop are settled in one turn, which costs the store little more than a single
 * answer.
 */
function inRounds(handleAll: (events: readonly Event[]) => void): {
  handle: (event: Event) => void
  gather: (event: Event) => void
} {
  let gathered: Event[] = []
  const flush = (...last: readonly Event[]): void => {
    const events = gathered.concat(last)
    gathered = []
    handleAll(events)
  }
  return {
    handle: flush,
    gather: (event) => {
      if (gathered.push(event) === 1) setImmediate(flush)
    },
  }
}

function nothing(): void {
  // Replaced once a timer is set.
}
