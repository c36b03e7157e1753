import { LIMITS } from '@postroad/contract'
import type { Clock } from '../../platform/clock.ts'
import { acceptanceOf, reject, type Committed, type Duplicate, type IdempotencyKey, type Rejected } from '../types.ts'

type Done = Exclude<Committed, { readonly kind: 'busy' }>

/** Stores an event unless its key says that it is stored already. `commit` makes its ids anew each time it is called. */
export type Once = (key: IdempotencyKey | undefined, commit: () => Promise<Committed>) => Promise<Done>

const AGAIN_MS = 50

const inProgress = reject('idempotency_in_progress', { retryAfterSeconds: 1 })

/** `outcome` is let go with the event in it when it is known to all who wait. */
type First = { readonly fingerprint: string | null; outcome: Promise<Committed> | undefined }

/**
 * Equal requests at the same time: within this process the first one goes to the database and the others wait for its
 * answer. What another process is storing is `busy` there, and is tried again every 50 ms. After 5 s of either: 409.
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
      // A map that is written much is remade often. Its old tables hold on to their entries, and to the tables after them,
      // until the next large garbage collection.
      first.outcome = undefined
    }
  }

  return async (key, commit) => {
    if (key === undefined) return settled(await commit())
    const until = clock.now() + LIMITS.idempotencyWaitMs
    const attempt = async (): Promise<Committed> => {
      let outcome = await commit()
      while (outcome.kind === 'busy' && clock.now() < until) {
        // oxlint-disable-next-line no-await-in-loop -- one try at a time, each after a pause
        await new Promise<void>((resolve) => clock.wakeAt(Math.min(clock.now() + AGAIN_MS, until), resolve))
        // oxlint-disable-next-line no-await-in-loop -- as above
        outcome = await commit()
      }
      return outcome
    }
    for (;;) {
      const first = underWay.get(key.hash)
      // oxlint-disable-next-line no-await-in-loop -- whoever was first decides whether this one comes next
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

/** What the first one's outcome means for one that waited; undefined: it has to try by itself. */
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
