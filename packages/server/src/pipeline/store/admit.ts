import { LIMITS } from '@postroad/contract'
import type { IdempotencyKeyRow } from '../../resources/idempotency-keys/queries.ts'
import { monthOf, nextMonthAt } from '../../domain/month.ts'
import { datasetLimitReached, reject, type Busy, type Duplicate, type Rejected, type Routed } from '../types.ts'
import { firstAnswer } from './first-answer.ts'

/** What a transaction knows of the keys, months and new datasets of its batch. It holds them, so this is true until it ends. */
export type Known = {
  readonly burnt: ReadonlyMap<string, IdempotencyKeyRow>
  readonly held: ReadonlySet<string>
  /** Events used, by `monthKey`. */
  readonly used: ReadonlyMap<string, number>
  /** All datasets of each project in which the batch names a new one. */
  readonly datasets: ReadonlyMap<string, ReadonlySet<string>>
  /** Milliseconds since 1970. */
  readonly now: number
  readonly upgradeUrl: string
}

export type Verdict = 'admitted' | Duplicate | Busy | Rejected

/** The workspace's month that an event counts in; undefined: its plan has no quota. */
export function countedIn(event: Routed): { readonly workspaceId: string; readonly month: string; readonly quota: number } | undefined {
  const { captured, receiver } = event.verified
  const quota = receiver.plan.limits.events_per_month
  return quota === null ? undefined : { workspaceId: receiver.plan.workspaceId, month: monthOf(captured.receivedAt), quota }
}

export const monthKey = (of: { readonly workspaceId: string; readonly month: string }): string => `${of.workspaceId} ${of.month}`

/**
 * Judges a batch in its order: first repeats, which count nothing, then new datasets and the quota, of which exactly as many
 * get through as are left. Pure.
 */
export function admit(events: readonly Routed[], known: Known): readonly Verdict[] {
  const taken = new Set<string>()
  const used = new Map(known.used)
  const datasets = new Map([...known.datasets].map(([projectId, names]) => [projectId, new Set(names)]))
  return events.map((event) => {
    const repeat = judgeKey(event, { known, taken })
    if (repeat !== undefined) return repeat
    const grown = judgeDatasets(event, datasets)
    if ('kind' in grown) return grown
    const counted = countedIn(event)
    if (counted !== undefined) {
      const before = used.get(monthKey(counted)) ?? 0
      if (before >= counted.quota) return exceeded(event, known)
      used.set(monthKey(counted), before + 1)
    }
    if (event.verified.idempotency !== undefined) taken.add(event.verified.idempotency.hash)
    for (const name of grown.newNames) grown.names?.add(name)
    return 'admitted'
  })
}

type Grown = { readonly names: Set<string> | undefined; readonly newNames: readonly string[] }

/** The datasets of its project that an event would make; none where the batch makes none. */
function judgeDatasets({ records, verified }: Routed, datasets: ReadonlyMap<string, Set<string>>): Grown | Rejected {
  const names = datasets.get(verified.receiver.plan.projectId)
  if (names === undefined) return { names, newNames: [] }
  const newNames = [...new Set(records.map(({ dataset }) => dataset))].filter((name) => !names.has(name))
  const last = newNames.at(-1)
  if (last !== undefined && names.size + newNames.length > LIMITS.datasetsPerProjectMax) return datasetLimitReached(last)
  return { names, newNames }
}

/** undefined: no repeat, and nobody else is storing its key. */
function judgeKey({ verified: { idempotency } }: Routed, { known, taken }: { known: Known; taken: ReadonlySet<string> }): Verdict | undefined {
  if (idempotency === undefined) return undefined
  const row = known.burnt.get(idempotency.hash)
  if (row === undefined) return known.held.has(idempotency.hash) && !taken.has(idempotency.hash) ? undefined : { kind: 'busy' }
  return idempotency.fingerprint === row.fingerprint ? { kind: 'duplicate', answer: firstAnswer(row) } : reject('idempotency_key_reused')
}

function exceeded(event: Routed, { now, upgradeUrl }: Known): Rejected {
  const waitMs = nextMonthAt(event.verified.captured.receivedAt) - now
  return reject('quota_exceeded', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)), upgradeUrl })
}
