import { setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from '../src/app.ts'
import { reject } from '../src/pipeline/types.ts'
import { extendOwners, keepOwners } from './queries.ts'

type Plant = NonNullable<AppOptions['commit']>

/**
 * Defects put into the server on purpose: a run that passes with one of these is a run that proves nothing. Each names
 * the check that must catch it.
 */
export const PLANTS = {
  /** Acknowledged, not stored. The pause makes room for a kill; without it the defect would be the same, only rarer. */
  'ack-before-commit': (commit) => async (event) => {
    void sleep(250).then(() => commit(event))
    return { kind: 'stored', event }
  },
  /** Acknowledged, never delivered: one delivery of the fan-out is missing now and then. */
  'half-fan-out': (commit) => (event) => commit(oneIn(10) ? { ...event, deliveries: event.deliveries.slice(1) } : event),
  /** Answered 503, yet stored. */
  'store-then-503': (commit) => async (event) => {
    const stored = await commit(event)
    return oneIn(10) ? reject('storage_unavailable', { retryAfterSeconds: 1 }) : stored
  },
  /** Stored, never sent in: every now and then an event is stored a second time under a new id. */
  'store-twice': (commit, deps) => async (event) => {
    if (oneIn(10)) await commit({ ...event, submissionId: deps.uuid(), records: [], deliveries: [] })
    return commit(event)
  },
  /** Body bytes equal: tidied up on the way in. */
  reformat: (commit) => (event) => {
    const text = JSON.stringify(event.verified.payload)
    return commit({ ...event, verified: { ...event.verified, text, body: Buffer.from(text) } })
  },
  /** Everything drains: dead senders are never taken for dead, so what they were sending is never sent again. */
  'no-reclaim': (commit, deps) => {
    const extend = (): void => void extendOwners(deps.database).catch(() => undefined)
    void keepOwners(deps.database).catch(() => undefined)
    setInterval(extend, 200).unref()
    return commit
  },
} as const satisfies Readonly<Record<string, Plant>>

export type PlantName = keyof typeof PLANTS

export function isPlant(name: string): name is PlantName {
  return Object.hasOwn(PLANTS, name)
}

let turns = 0

/** True once in so many calls, evenly. */
function oneIn(times: number): boolean {
  turns += 1
  return turns % times === 0
}
