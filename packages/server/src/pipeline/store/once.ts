import { LIMITS } from '@postroad/contract'
import type { Clock } from '../../platform/clock.ts'
import { acceptanceOf, reject, type Committed, type Duplicate, type IdempotencyKey, type Rejected } from '../types.ts'

type Done = Exclude<Committed, { readonly kind: 'busy' }>

/** Stores an event unless its key is stored already. `commit` creates new ids each time it is called. */
export type Once = (key: IdempotencyKey | undefined, commit: () => Promise<Committed>) => Promise<Done>

const AGAIN_MS = 50

const inProgress = reject('idempotency_in_progress', { retryAfterSeconds: 1 })

/** `outcome` is cleared, and the event in it released, once all waiting requests have it. */
type First = { readonly fingerprint: string | null; outcome: Promise<Committed> | undefined }

/**
 * Equal requests at the same time: within this process, the first one goes to the database and the others wait for its answer.
 * A key that another process is storing is `busy` and is retried every 50 ms. After 5 s of either, the answer is 409.
 */
export function createOnce(clock: Clock): Once {
  const underWay = new Map<string, First>()

  const lead = async (key: IdempotencyKey, attempt: () => Promise<Committed>): Promise<Committed> => {
    const outcome = attempt()
    const first: First = { fingerprint: key.fingerprint, outcome }
    underWay.set(key.hash, first)
    try {
      return await outcome
    } finally {
      underWay.delete(key.hash)
      // A map with many writes is rebuilt often. Its old tables keep their entries, and the tables after them, in memory until
      // the next large garbage collection.
      first.outcome = undefined
    }
  }

  return async (key, commit) => {
    if (key === undefined) return settled(await commit())
    const until = clock.now() + LIMITS.idempotencyWaitMs
    const attempt = async (): Promise<Committed> => {
      let outcome = await commit()
      while (outcome.kind === 'busy' && clock.now() < until) {
        // oxlint-disable-next-line no-await-in-loop -- one attempt at a time, each after a pause
        await new Promise<void>((resolve) => clock.wakeAt(Math.min(clock.now() + AGAIN_MS, until), resolve))
        // oxlint-disable-next-line no-await-in-loop -- as above
        outcome = await commit()
      }
      return outcome
    }
    for (;;) {
      const first = underWay.get(key.hash)
      // oxlint-disable-next-line no-await-in-loop -- the first request decides whether this one runs next
      if (first?.outcome === undefined) return settled(await lead(key, attempt))
      // oxlint-disable-next-line no-await-in-loop -- as above
      const outcome = await atMost(clock, first.outcome, until)
      if (outcome === 'late') return inProgress
      const shared = shareOf(outcome, first.fingerprint === key.fingerprint)
      if (shared !== undefined) return shared
    }
  }
}

function settled(outcome: Committed): Done {
  return outcome.kind === 'busy' ? inProgress : outcome
}

/** The meaning of the first request's outcome for a request that waited; undefined: that one must try by itself. */
function shareOf(outcome: Committed, isEqual: boolean): Duplicate | Rejected | undefined {
  switch (outcome.kind) {
    case 'busy':
      return undefined
    case 'stored':
      return isEqual ? { kind: 'duplicate', answer: acceptanceOf(outcome.event) } : reject('idempotency_key_reused')
    case 'duplicate':
    case 'rejected':
      return isEqual ? outcome : undefined
  }
}

function atMost<T>(clock: Clock, promise: Promise<T>, until: number): Promise<T | 'late'> {
  return new Promise((resolve, fail) => {
    const cancel = clock.wakeAt(until, () => resolve('late'))
    void promise.then(resolve, fail).finally(cancel)
  })
}
