import { LIMITS } from '@postroad/contract'
import type { IdempotencyKeyRow } from '../../resources/capture/idempotency-keys/queries.ts'
import { monthOf, nextMonthAt } from '../../domain/workspace/month.ts'
import type { MonthOf, RootOf, Used } from '../../resources/workspace/usage/queries.ts'
import {
  datasetLimitReached,
  descendantsExhausted,
  isOwnEvent,
  reject,
  type Busy,
  type DeliveryDraft,
  type Duplicate,
  type IdempotencyKey,
  type Rejected,
  type Routed,
} from '../types.ts'
import { firstAnswer } from './first-answer.ts'

/**
 * A transaction's view of the keys, months and new datasets of its batch. It has locked them, so the view is true until it
 * ends.
 */
export type Known = {
  readonly consumed: ReadonlyMap<string, IdempotencyKeyRow>
  readonly held: ReadonlySet<string>
  /** By `monthKey`. */
  readonly used: ReadonlyMap<string, Used>
  /** The events that each root had led to before the batch, by `rootKey`. */
  readonly descendants: ReadonlyMap<string, number>
  /** All datasets of each project in which the batch names a new one. */
  readonly datasets: ReadonlyMap<string, ReadonlySet<string>>
  /** Milliseconds since 1970. */
  readonly now: number
  readonly upgradeUrl: string
}

/**
 * Admitted, but the month's allowance has no room for all of its deliveries. `deliveries` are all of them, with the waiting
 * ones paused.
 */
export type BeyondAllowance = { readonly kind: 'beyond_allowance'; readonly deliveries: readonly DeliveryDraft[] }

export type Verdict = 'admitted' | BeyondAllowance | Duplicate | Busy | Rejected

/** The month of the workspace in which an event counts, and the limits of its plan there; undefined: no limit applies. */
export function countedIn({
  verified: { captured, receiver },
  deliveries,
}: Routed): (MonthOf & { readonly quota: number | null; readonly allowance: number | null }) | undefined {
  if (isOwnEvent(receiver)) return undefined
  const { limits, workspaceId } = receiver.plan
  const quota = limits.events_per_month
  const allowance = deliveries.length === 0 ? null : limits.deliveries_per_month
  return quota === null && allowance === null
    ? undefined
    : { workspaceId, month: monthOf(captured.receivedAt), quota, allowance }
}

/** The amount that an event adds to its month, without the deliveries that wait for the allowance. */
export function countOf(
  { quota, allowance }: { readonly quota: number | null; readonly allowance: number | null },
  deliveries: readonly DeliveryDraft[],
): Used {
  const within = deliveries.filter(({ pauseReason }) => pauseReason !== 'allowance_used')
  return { events: quota === null ? 0 : 1, deliveries: allowance === null ? 0 : within.length }
}

/** The root in whose count an event is, and the limit of the plan there; undefined: no limit applies. */
export function countedUnder({
  verified: { captured, receiver },
}: Routed): (RootOf & { readonly max: number }) | undefined {
  const { limits, workspaceId } = receiver.plan
  const { descendants_per_event: max } = limits
  return captured.root === undefined || max === null ? undefined : { workspaceId, rootId: captured.root, max }
}

export const rootKey = ({ workspaceId, rootId }: RootOf): string => `${workspaceId} ${rootId}`

export const monthKey = (of: { readonly workspaceId: string; readonly month: string }): string =>
  `${of.workspaceId} ${of.month}`

/**
 * Judges a batch in its order: first repeats, which count nothing, then the events that follow from one event, new datasets
 * and the quota, which admits exactly as many events as it has left. The allowance releases exactly as many of their deliveries as it has left. Pure.
 */
export function admit(events: readonly Routed[], known: Known): readonly Verdict[] {
  const taken = new Set<string>()
  const used = new Map(known.used)
  const descendants = new Map(known.descendants)
  const datasets = new Map([...known.datasets].map(([projectId, names]) => [projectId, new Set(names)]))
  return events.map((event) => {
    const repeat = judgeKey(event, { known, taken })
    if (repeat !== undefined) return repeat
    const root = countedUnder(event)
    const before = root === undefined ? 0 : (descendants.get(rootKey(root)) ?? 0)
    if (root !== undefined && before >= root.max) return descendantsExhausted(root.max)
    const grown = judgeDatasets(event, datasets)
    if ('kind' in grown) return grown
    const fitted = fit(event, used)
    if (fitted === 'exceeded') return exceeded(event, known)
    if (root !== undefined) descendants.set(rootKey(root), before + 1)
    if (event.verified.idempotency !== undefined) taken.add(event.verified.idempotency.hash)
    for (const name of grown.newNames) grown.names?.add(name)
    return fitted
  })
}

/** Counts an event in its month if the quota has room for it, and counts its first deliveries up to the room of the allowance. */
function fit(event: Routed, used: Map<string, Used>): 'admitted' | BeyondAllowance | 'exceeded' {
  const counted = countedIn(event)
  if (counted === undefined) return 'admitted'
  const before = used.get(monthKey(counted)) ?? { events: 0, deliveries: 0 }
  if (counted.quota !== null && before.events >= counted.quota) return 'exceeded'
  const room = counted.allowance === null ? Infinity : Math.max(0, counted.allowance - before.deliveries)
  const deliveries = event.deliveries.map((delivery, index) =>
    index < room ? delivery : { ...delivery, pauseReason: 'allowance_used' as const },
  )
  const count = countOf(counted, deliveries)
  used.set(monthKey(counted), {
    events: before.events + count.events,
    deliveries: before.deliveries + count.deliveries,
  })
  return room < deliveries.length ? { kind: 'beyond_allowance', deliveries } : 'admitted'
}

type Grown = { readonly names: Set<string> | undefined; readonly newNames: readonly string[] }

/** The datasets of its project that an event would create; none where the batch creates none. */
function judgeDatasets({ records, verified }: Routed, datasets: ReadonlyMap<string, Set<string>>): Grown | Rejected {
  const names = datasets.get(verified.receiver.plan.projectId)
  if (names === undefined || isOwnEvent(verified.receiver)) return { names, newNames: [] }
  const newNames = [...new Set(records.map(({ dataset }) => dataset))].filter((name) => !names.has(name))
  const last = newNames.at(-1)
  if (last !== undefined && names.size + newNames.length > LIMITS.datasetsPerProjectMax)
    return datasetLimitReached(last)
  return { names, newNames }
}

/** undefined: the event is not a repeat, and no other transaction is storing its key. */
function judgeKey(
  { verified: { idempotency } }: Routed,
  { known, taken }: { known: Known; taken: ReadonlySet<string> },
): Verdict | undefined {
  if (idempotency === undefined) return undefined
  const row = known.consumed.get(idempotency.hash)
  if (row === undefined)
    return known.held.has(idempotency.hash) && !taken.has(idempotency.hash) ? undefined : { kind: 'busy' }
  return answerToRepeat(idempotency, row)
}

/** The answer to an event whose key is consumed. */
export function answerToRepeat({ fingerprint }: IdempotencyKey, row: IdempotencyKeyRow): Duplicate | Rejected {
  return fingerprint === null || fingerprint === row.fingerprint
    ? { kind: 'duplicate', answer: firstAnswer(row) }
    : reject('idempotency_key_reused')
}

function exceeded(event: Routed, { now, upgradeUrl }: Known): Rejected {
  const waitMs = nextMonthAt(event.verified.captured.receivedAt) - now
  return reject('quota_exceeded', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)), upgradeUrl })
}
