import { setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from '../src/app.ts'
import type { Deps } from '../src/context.ts'
import { acceptanceOf, reject, type Acceptance, type Routed } from '../src/pipeline/types.ts'
import type { Database } from '../src/platform/db.ts'
import { uuidv7Named } from '../src/platform/ids.ts'
import { openKeyFile } from '../src/platform/key-file.ts'
import { outboundInOneQueue, outboundWithFewLookUps } from './planted-outbound.ts'
import {
  closeBreakers,
  countOne,
  extendOwners,
  forgetPlaces,
  forgetSuspensions,
  heedNoPause,
  keepOwners,
  liftCaps,
  misend,
  takeLanes,
  usedEvents,
} from './queries.ts'

/** A defect: parts composed in another way, or something done to the database or to the process. */
export type Plant = Pick<AppOptions, 'commit' | 'rejections' | 'outbound' | 'resolver'> & {
  /** Done before the server listens, and every so many milliseconds from then on when `everyMs` says so. */
  readonly strike?: (deps: Deps) => Promise<unknown>
  readonly everyMs?: number
  /** Done in each process that serves. */
  readonly inProcess?: () => void
}

/** A defect of the database, there before the first request. */
const inDatabase = (strike: (database: Database) => Promise<void>): Plant => ({
  strike: (deps) => strike(deps.database),
})

/**
 * Defects put into the server on purpose: a run that passes with one of these is a run that proves nothing. Each names
 * the check that must catch it.
 */
export const PLANTS = {
  /** Acknowledged, not stored. The pause makes room for a kill; without it the defect would be the same, only rarer. */
  'ack-before-commit': {
    commit: (commit) => async (event) => {
      void sleep(250).then(() => commit(event))
      return { kind: 'stored', event }
    },
  },
  /** Acknowledged, never delivered: one delivery of the fan-out is missing now and then. */
  'half-fan-out': {
    commit: (commit) => (event) => commit(oneIn(10) ? { ...event, deliveries: event.deliveries.slice(1) } : event),
  },
  /** Answered 503, yet stored. */
  'store-then-503': {
    commit: (commit) => async (event) => {
      const stored = await commit(event)
      return oneIn(10) ? reject('storage_unavailable', { retryAfterSeconds: 1 }) : stored
    },
  },
  /** Stored, never sent in: every now and then an event is stored a second time under a new id. */
  'store-twice': {
    commit: (commit, deps) => async (event) => {
      if (oneIn(10)) await commit({ ...event, submissionId: deps.uuid(), records: [], deliveries: [] })
      return commit(event)
    },
  },
  /** Body bytes equal: tidied up on the way in. */
  reformat: {
    commit: (commit) => (event) => {
      const text = JSON.stringify(event.verified.payload)
      return commit({ ...event, verified: { ...event.verified, text, body: Buffer.from(text) } })
    },
  },
  /** Everything drains: dead senders are never taken for dead, so what they were sending is never sent again. */
  'no-reclaim': {
    strike: async ({ database }) => {
      await keepOwners(database)
      await extendOwners(database)
    },
    everyMs: 200,
  },
  /** More duplicates than were in flight: who lives loses its lanes while it sends, so that is sent again. */
  'no-fence': {
    ...inDatabase(takeLanes),
    commit: (commit, deps) => async (event) => {
      if (oneIn(20)) void takeLanes(deps.database).catch(() => undefined)
      return commit(event)
    },
  },
  /** More logged than was refused, and in calm not as much. */
  'count-refusals-twice': {
    rejections: (rejections) => ({
      ...rejections,
      note: (of, rejected) => {
        if (oneIn(10)) rejections.note(of, rejected)
        return rejections.note(of, rejected)
      },
    }),
  },
  /** More rows than credentials, reasons and minutes allow: as many as there are addresses. */
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
  /** One key, several submissions: what is burnt is remembered by the process and not by the commit. */
  'keys-in-memory': {
    commit: (commit) => {
      const burnt = new Map<string, Acceptance>()
      return async (event) => {
        const hash = event.verified.idempotency?.hash ?? ''
        const known = burnt.get(hash)
        if (known !== undefined) return { kind: 'duplicate', answer: known }
        const stored = await commit({ ...event, verified: { ...event.verified, idempotency: undefined } })
        // Room for a kill; without it the defect would be the same, only rarer.
        await sleep(100)
        if (stored.kind === 'stored') burnt.set(hash, acceptanceOf(event))
        return stored
      }
    },
  },
  /** More stored than had room: the count is looked at before the commit and raised after it. */
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
  /** Reached a neighbour in time: all destinations share a few places, and those that hang keep them. */
  'one-queue': { outbound: outboundInOneQueue },
  /** The same with names that hang: few are looked up at a time, and nothing is kept. */
  'few-look-ups': { outbound: outboundWithFewLookUps },
  /** More at once than its cap, and faster than its rate: a destination that is made is made without them. */
  'no-caps': inDatabase(liftCaps),
  /** Faster than its ramp: whoever was away for an hour is taken for healthy when it comes back. */
  'no-ramp': { ...inDatabase(closeBreakers), everyMs: 200 },
  /** Sent twice by a replay: it forgets the place that it has come to. */
  'no-place': inDatabase(forgetPlaces),
  /** Made due while paused, or after it was cancelled: both are answered, and not kept. */
  'deaf-replay': inDatabase(heedNoPause),
  /** Accepted and begun while suspended: the suspension is answered, and forgotten. */
  'suspend-in-name': inDatabase(forgetSuspensions),
  /** Stored, never shown to a client: now and then records get ids from long before their commit, where no stream looks any more. */
  'late-ids': {
    commit: (commit, deps) => (event) => commit(oneIn(10) ? madeAt(event, deps.clock.now() - LATE_MS) : event),
  },
  /** Refused in its time: a URL that is replaced ends at once, whatever the overlap. */
  'no-overlap': inDatabase((database) => misend(database, 'at_once')),
  /** Accepted after its end: a URL that is replaced goes on working for ever. */
  'endless-overlap': inDatabase((database) => misend(database, 'never')),
  /** Sealed values that nobody can open: the former key is taken away as soon as there is a new one. */
  'former-key-first': {
    strike: async ({ config }) => {
      const file = openKeyFile(config.DATA_DIR)
      const [newest, former] = file.keys()
      if (former !== undefined) file.replace([newest])
    },
    everyMs: 5,
  },
  /** Failed requests, and duplicates: a process that is asked to end does so at once. */
  'no-drain': { inProcess: () => process.prependListener('SIGTERM', () => process.exit(0)) },
} as const satisfies Readonly<Record<string, Plant>>

export type PlantName = keyof typeof PLANTS

export function isPlant(name: string): name is PlantName {
  return Object.hasOwn(PLANTS, name)
}

/** Longer than a transaction may last. */
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

/** True once in so many calls, evenly. */
function oneIn(times: number): boolean {
  turns += 1
  return turns % times === 0
}
