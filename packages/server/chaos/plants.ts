import { setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from '../src/app.ts'
import type { Deps } from '../src/context.ts'
import { acceptanceOf, away, reject, unavailable, type Acceptance, type Routed } from '../src/pipeline/types.ts'
import type { Database } from '../src/platform/db.ts'
import { uuidv7Named } from '../src/platform/ids.ts'
import { openKeyFile } from '../src/platform/key-file.ts'
import { produceWithoutAcks } from './planted-kafka.ts'
import { outboundInOneQueue, outboundWithFewLookUps, outboundWithoutPubsub } from './planted-outbound.ts'
import {
  closeBreakers,
  countOne,
  extendOwners,
  forgetPlaces,
  forgetSuspensions,
  heedNoPause,
  keepOwners,
  liftCaps,
  loseCursors,
  losePositions,
  loseStarts,
  loseWakes,
  misend,
  takeLanes,
} from './planted/queries.ts'
import { usedEvents } from './queries.ts'
import { forgetRegistrations } from './registrations/queries.ts'

/** A defect: parts that are composed differently, or a change of the database or the process. */
export type Plant = Pick<
  AppOptions,
  'acceptAll' | 'commit' | 'rejections' | 'outbound' | 'links' | 'linkBudget' | 'heavy' | 'work' | 'resolver'
> & {
  /** Runs before the server listens, and then every `everyMs` milliseconds if that is set. */
  readonly strike?: (deps: Deps) => Promise<unknown>
  readonly everyMs?: number
  /** Runs in each process that serves. */
  readonly inProcess?: () => void
}

/** A defect of the database, planted before the first request. */
const inDatabase = (strike: (database: Database) => Promise<void>): Plant => ({
  strike: (deps) => strike(deps.database),
})

/**
 * Deliberate defects of the server: a run that passes with one of these proves nothing. The comment of each names the check
 * that must catch it.
 */
export const PLANTS = {
  /** "acknowledged, not stored". The pause leaves time for a kill; without it the defect would be the same, but rarer. */
  'ack-before-commit': {
    commit: (commit) => async (event) => {
      void sleep(250).then(() => commit(event))
      return { kind: 'stored', event }
    },
  },
  /** "acknowledged, never delivered": sometimes one delivery of the fan-out is missing. */
  'half-fan-out': {
    commit: (commit) => (event) => commit(oneIn(10) ? { ...event, deliveries: event.deliveries.slice(1) } : event),
  },
  /** "answered 503, yet stored". */
  'store-then-503': {
    commit: (commit) => async (event) => {
      const stored = await commit(event)
      return oneIn(10) ? reject('storage_unavailable', { retryAfterSeconds: 1 }) : stored
    },
  },
  /** "failed requests": events do not wait for a PostgreSQL that restarts. */
  'no-patience': {
    commit: (commit) => async (event) => {
      const stored = await commit(event)
      return stored === away ? unavailable : stored
    },
  },
  /** "stored twice": sometimes an event is stored a second time under a new id. */
  'store-twice': {
    commit: (commit, deps) => async (event) => {
      if (oneIn(10)) await commit({ ...event, submissionId: deps.uuid(), records: [], deliveries: [] })
      return commit(event)
    },
  },
  /** "bytes changed in the store": bodies are reformatted before they are stored. */
  reformat: {
    commit: (commit) => (event) => {
      const text = JSON.stringify(event.verified.payload)
      return commit({ ...event, verified: { ...event.verified, text, body: Buffer.from(text) } })
    },
  },
  /** "deliveries left unfinished": dead senders never count as dead, so their deliveries are never sent again. */
  'no-reclaim': {
    strike: async ({ database }) => {
      await keepOwners(database)
      await extendOwners(database)
    },
    everyMs: 200,
  },
  /** More duplicates than were in flight: living senders lose their lanes while they send, so their deliveries are sent again. */
  'no-fence': {
    ...inDatabase(takeLanes),
    commit: (commit, deps) => async (event) => {
      if (oneIn(20)) void takeLanes(deps.database).catch(() => undefined)
      return commit(event)
    },
  },
  /** More logged than refused, and in calm not the exact number. */
  'count-refusals-twice': {
    rejections: (rejections) => ({
      ...rejections,
      note: (of, rejected) => {
        if (oneIn(10)) rejections.note(of, rejected)
        return rejections.note(of, rejected)
      },
    }),
  },
  /** More rows than credentials, reasons and minutes allow: one for each address. */
  'row-per-address': {
    rejections: (rejections) => ({
      ...rejections,
      note: (refused, rejected) => {
        const { captured } = refused
        const minutes = Number(captured.sourceIp?.split('.').at(-1) ?? 0)
        return rejections.note(
          { ...refused, captured: { ...captured, receivedAt: captured.receivedAt - minutes * 60_000 } },
          rejected,
        )
      },
    }),
  },
  /** "one key, several submissions": the process remembers consumed keys, not the commit. */
  'keys-in-memory': {
    commit: (commit) => {
      const consumed = new Map<string, Acceptance>()
      return async (event) => {
        const hash = event.verified.idempotency?.hash ?? ''
        const known = consumed.get(hash)
        if (known !== undefined) return { kind: 'duplicate', answer: known }
        const stored = await commit({ ...event, verified: { ...event.verified, idempotency: undefined } })
        // Leaves time for a kill; without it the defect would be the same, but rarer.
        await sleep(100)
        if (stored.kind === 'stored') consumed.set(hash, acceptanceOf(event))
        return stored
      }
    },
  },
  /** "more stored than the quota allows": the count is read before the commit and raised after it. */
  'count-apart': {
    commit: (commit, deps) => async (event) => {
      const { plan } = event.verified.receiver
      const at = { workspaceId: plan.workspaceId }
      const quota = plan.limits.events_per_month ?? Infinity
      if ((await usedEvents(deps.database, at)) >= quota) return reject('quota_exceeded', { retryAfterSeconds: 1 })
      const stored = await commit(withoutQuota(event))
      if (stored.kind === 'stored') await countOne(deps.database, at)
      return stored
    },
  },
  /** "not delivered to a neighbor …": all destinations share a few slots, and hanging ones occupy them. */
  'one-queue': { outbound: outboundInOneQueue },
  /** The same with hanging names: few are resolved at a time, and there is no cache. */
  'few-look-ups': { outbound: outboundWithFewLookUps },
  /** "acknowledged, never delivered": events count as taken before their broker confirms them. */
  'taken-before-confirm': {
    links: (links) => ({
      ...links,
      send: async (request) => {
        void links.send(request)
        return { kind: 'accepted', text: 'not confirmed', durationMs: 0 }
      },
    }),
  },
  /** The same for Kafka: the client asks for no answer (`acks` 0), so events of a broker that hangs count as stored. */
  'kafka-without-acks': { inProcess: produceWithoutAcks },
  /** The same for Google Pub/Sub: a request counts as answered when it is sent. */
  'published-before-answer': { outbound: outboundWithoutPubsub },
  /** More simultaneous requests than its cap, and faster than its rate: new destinations are created without limits. */
  'no-caps': inDatabase(liftCaps),
  /** Faster than its ramp: a destination that was away for an hour counts as healthy when it comes back. */
  // A slow server needs some time to open a breaker, and takes longer than this to start again.
  'no-ramp': { ...inDatabase(closeBreakers), everyMs: 600 },
  /** "sent twice by a replay": it forgets its place. */
  'no-place': inDatabase(forgetPlaces),
  /** "made due while paused" or after it was canceled: both are acknowledged, but not stored. */
  'deaf-replay': inDatabase(heedNoPause),
  /** "stored, not started": instances start beside the commit of their record. */
  'start-apart': inDatabase(loseStarts),
  /** "timed out beside the event they waited for": sometimes a wait does not learn of its record. */
  'lost-wake': inDatabase(loseWakes),
  /** "emitted twice": an event and the cursor of its step are not one commit. */
  'cursor-apart': inDatabase(loseCursors),
  /** "stored twice": the items of a source and its position are not one commit. */
  'position-apart': inDatabase(losePositions),
  /** "changes that were never filed": a replication is acknowledged before its changes are stored. */
  'slot-before-commit': {
    acceptAll: (acceptAll) => async (captured, alongside) => {
      const address = captured[0]?.address
      if (address?.kind !== 'origin' || address.origin.kind !== 'source') return acceptAll(captured, alongside)
      void sleep(6_000)
        .then(() => acceptAll(captured, alongside))
        .catch(() => undefined)
      return []
    },
  },
  /** "more accounts than the cap of the day": one registration in ten is not counted. */
  'uncounted-registrations': inDatabase(forgetRegistrations),
  /** Accepted and started while suspended: the suspension is acknowledged, and forgotten. */
  'suspend-in-name': inDatabase(forgetSuspensions),
  /**
   * "stored, never shown to a client": sometimes records get ids from long before their commit, where streams no longer
   * look.
   */
  'late-ids': {
    commit: (commit, deps) => (event) => commit(oneIn(10) ? madeAt(event, deps.clock.now() - LATE_MS) : event),
  },
  /** "refused while valid": a replaced URL expires immediately, whatever the overlap. */
  'no-overlap': inDatabase((database) => misend(database, 'at_once')),
  /** "accepted after its expiry": a replaced URL works forever. */
  'endless-overlap': inDatabase((database) => misend(database, 'never')),
  /** "sealed values that nobody can open": the previous key is removed as soon as there is a new one. */
  'previous-key-first': {
    strike: async ({ config }) => {
      const file = openKeyFile(config.DATA_DIR)
      const [newest, previous] = file.keys()
      if (previous !== undefined) file.replace([newest])
    },
    everyMs: 5,
  },
  /** "events that waited while the loop worked for others": heavy work runs on the loop. */
  'no-pool': {
    heavy: (heavy) => ({
      run: (task, asked) => heavy.run(task, { ...asked, work: 0 }),
      load: heavy.load,
      close: () => heavy.close(),
    }),
  },
  /** "work beyond the plan that was not refused": nobody pays. */
  'no-bucket': { work: (work) => ({ ...work, waitMs: () => 0 }) },
  /** "answers without an end that were read on": connections to destinations read whatever the server sends. */
  'no-socket-bound': { linkBudget: { unitBytesMax: Infinity, answerBytesMax: Infinity } },
  /** "failed requests", and duplicates: a process that is asked to end does so immediately. */
  'no-drain': { inProcess: () => process.prependListener('SIGTERM', () => process.exit(0)) },
} as const satisfies Readonly<Record<string, Plant>>

export type PlantName = keyof typeof PLANTS

export function isPlant(name: string): name is PlantName {
  return Object.hasOwn(PLANTS, name)
}

/** Longer than a transaction can last. */
const LATE_MS = 600_000

function madeAt(event: Routed, ms: number): Routed {
  const ids = new Map(event.records.map((record) => [record.id, uuidv7Named(ms, record.id)]))
  const idOf = (id: string): string => ids.get(id) ?? id
  return {
    ...event,
    records: event.records.map((record) => ({ ...record, id: idOf(record.id) })),
    deliveries: event.deliveries.map((delivery) => ({ ...delivery, recordId: idOf(delivery.recordId) })),
  }
}

function withoutQuota(event: Routed): Routed {
  const { receiver } = event.verified
  const plan = { ...receiver.plan, limits: { ...receiver.plan.limits, events_per_month: null } }
  return { ...event, verified: { ...event.verified, receiver: { ...receiver, plan } } }
}

let turns = 0

/** True for one in this many calls, at regular intervals. */
function oneIn(times: number): boolean {
  turns += 1
  return turns % times === 0
}
