import { LIMITS } from '@postroad/contract'
import { runClaimed } from '../../platform/claimed-work.ts'
import { openSourceSecret } from '../../resources/sources/sources/index.ts'
import { claimSources, releaseSource, type ClaimedSource } from '../../resources/sources/sources/queries.ts'
import { matching } from './matching.ts'
import type { SourceDeps } from './ports.ts'
import { readSource } from './readers/read.ts'
import { claimOf, settleFailure, storeBatch } from './settle.ts'

const POLLED = ['postgres', 'mysql', 'http_poll'] as const
/** The most sources that a process reads at the same time. */
const AT_ONCE = 8
/** The most of one workspace, so that its slow sources leave room for others. */
const OF_WORKSPACE_MAX = 6
/** Longer than a read and its commit can take together. */
const LEASE_MS = 60_000

export type SourcePolls = {
  /** Reads all due sources, and resolves to the number of claims. */
  run(): Promise<number>
  /** Ends the reads under way, and starts no others. */
  stop(): void
}

/** Polls sources. Each run claims a source under a fence, so two processes never store the same rows. */
export function createSourcePolls(deps: SourceDeps, owner: string): SourcePolls {
  const stopped = new AbortController()
  return {
    run: () =>
      runClaimed<ClaimedSource>(deps.clock, {
        atOnce: AT_ONCE,
        isStopping: () => stopped.signal.aborted,
        claim: ({ limit, underWay }) =>
          claim(deps, { owner, limit, underWay: underWay.map((one) => one.workspace_id) }),
        work: (source) => poll(deps, source, stopped.signal),
      }),
    stop: () => stopped.abort(),
  }
}

function claim(
  { database, clock }: SourceDeps,
  asked: { owner: string; limit: number; underWay: readonly string[] },
): Promise<readonly ClaimedSource[]> {
  const now = clock.now()
  const at = { now: new Date(now), until: new Date(now + LEASE_MS), ofWorkspaceMax: OF_WORKSPACE_MAX }
  return claimSources(database, { ...asked, kinds: POLLED, ...at })
}

/** One read of one source. It never rejects. */
async function poll(deps: SourceDeps, source: ClaimedSource, signal: AbortSignal): Promise<void> {
  try {
    const { settings } = source
    if (settings.kind === 'sse' || settings.kind === 'postgres_replication') throw new Error('A stream is not polled.')
    const read = await readSource(deps, {
      settings,
      secret: openSourceSecret(deps, source),
      position: source.position,
      itemsMax: settings.kind === 'http_poll' ? LIMITS.sourceBatchRowsMax : settings.batch_limit,
      rowBytesMax: deps.config.INGEST_BODY_BYTES,
      signal,
    })
    const usable = onePerKey(read.items.flatMap(({ text, key }) => (text === null ? [] : [{ text, key }])))
    const matched = new Set(
      await matching(deps, {
        workspaceId: source.workspace_id,
        texts: usable.map(({ text }) => text),
        conditions: source.conditions,
      }),
    )
    await storeBatch(deps, source, {
      items: usable.filter(({ text }) => matched.has(text)),
      unusable: read.items.filter(({ text }) => text === null).length,
      position: read.position,
      dueInMs: read.againInMs ?? settings.poll_seconds * 1_000,
      leaseUntil: null,
    })
  } catch (cause) {
    const settled = signal.aborted
      ? releaseSource(deps.database, { ...claimOf(source), dueAt: new Date(deps.clock.now()) })
      : settleFailure(deps, source, cause)
    await settled.catch((error: unknown) => deps.retryLog.warn('source.not_settled', { cause: error }))
  }
}

/** The first of the items with the same key. */
function onePerKey<Item extends { readonly key: string | null }>(items: readonly Item[]): readonly Item[] {
  const seen = new Set<string>()
  return items.filter(({ key }) => {
    if (key === null) return true
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
