import type { LaneMemory } from '../../src/domain/delivery/lane-memory.ts'

/** One operation on the store and on its model, chosen at random. */
export const KINDS = [
  'ingest',
  'ingest beyond',
  'let go',
  'lease',
  'renew',
  'release',
  'read',
  'turn',
  'switch',
  'suspend',
  'replay',
  'replay many',
  'retry',
  'probe',
  'cancel one',
  'cancel',
  'advance',
] as const
export type Step = {
  readonly kind: (typeof KINDS)[number]
  readonly lane: number
  readonly n: number
  readonly m: number
}

const OWNERS = ['a', 'b', 'c'] as const
export const LEASE_MS = 10_000

export const ownerOf = (step: Step): string => OWNERS[step.lane % OWNERS.length] ?? 'a'

export function noteOf({ n, m }: Step): { readonly serial: number; readonly memory: LaneMemory | null } {
  const kinds = [
    null,
    breakerOpenFor(20_000),
    breakerOpenFor(-1),
    { breaker: null, rate: { sends: [{ age_ms: 40, count: 2 }], pending: m % 2 }, breaker_resets: 0 },
  ]
  return { serial: m, memory: kinds[n % kinds.length] ?? null }
}

export function breakerOpenFor(probe_in_ms: number): LaneMemory {
  const counts = [{ age_ms: 100, succeeded: 1, failed: 9 }]
  const breaker = {
    state: 'open',
    failures_in_row: 9,
    failing_ms: 700,
    opened_ms: 5,
    probe_in_ms,
    probe_wait_ms: 30_000,
    cap: 0,
    counts,
  } as const
  return { breaker, rate: null, breaker_resets: 0 }
}
