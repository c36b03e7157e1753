import { LIMITS } from '@postroad/contract'
import { openSourceSecret } from '../../resources/sources/sources/index.ts'
import {
  claimSources,
  releaseSource,
  renewSource,
  type ClaimedSource,
} from '../../resources/sources/sources/queries.ts'
import { separately } from '../../platform/separately.ts'
import { matching } from './matching.ts'
import type { SourceDeps } from './ports.ts'
import { followSource } from './readers/read.ts'
import type { StreamBatch, StreamSettings } from './readers/types.ts'
import { claimOf, settleFailure, storeBatch } from './settle.ts'

const STREAMED = ['sse', 'postgres_replication'] as const
const LEASE_MS = 15_000
const CONNECTIONS_MAX = 500
/** The most of one workspace, so that it leaves room for others. */
const OF_WORKSPACE_MAX = 400
const AT_ONCE = 25

export type Streams = {
  /** Renews the leases of the streams, ends those that must end, and takes sources that no process reads. */
  run(): Promise<void>
  /** Whether this process reads a stream. */
  busy(): boolean
  /** Ends every stream and releases the sources. */
  stop(): Promise<void>
}

type Held = { readonly source: ClaimedSource; readonly ends: AbortController; readonly ended: Promise<void> }

/** Reads sources that are a stream. The lease of a row lets one process read, and moves when that process dies. */
export function createStreams(deps: SourceDeps, owner: string): Streams {
  const held = new Set<Held>()
  let stopped = false
  const begin = (source: ClaimedSource): void => {
    const ends = new AbortController()
    const one: Held = { source, ends, ended: follow(deps, source, ends.signal).finally(() => held.delete(one)) }
    held.add(one)
    if (stopped) ends.abort()
  }
  const renew = async (): Promise<void> => {
    const until = new Date(deps.clock.now() + LEASE_MS)
    await Promise.all(
      [...held].map(async ({ source, ends }) => {
        if ((await renewSource(deps.database, { ...claimOf(source), until })) === 0) ends.abort()
      }),
    )
  }
  const take = async (): Promise<void> => {
    const limit = Math.min(AT_ONCE, CONNECTIONS_MAX - held.size)
    if (stopped || limit <= 0) return
    const now = deps.clock.now()
    const until = new Date(now + LEASE_MS)
    const underWay = [...held].map(({ source }) => source.workspace_id)
    const at = { now: new Date(now), until, limit, underWay, ofWorkspaceMax: OF_WORKSPACE_MAX }
    for (const source of await claimSources(deps.database, { kinds: STREAMED, owner, ...at })) begin(source)
  }
  return {
    run: () => separately([renew, take], (part) => part()),
    busy: () => held.size > 0,
    stop: async () => {
      stopped = true
      for (const { ends } of held) ends.abort()
      await Promise.all([...held].map(({ ended }) => ended))
    },
  }
}

/** Reads one stream to its end. It never rejects. */
async function follow(deps: SourceDeps, source: ClaimedSource, signal: AbortSignal): Promise<void> {
  const { clock, database, config, retryLog } = deps
  let retryMs: number = LIMITS.sseRetryMsDefault
  try {
    const stream = followSource(deps, {
      id: source.id,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only sources of these kinds are claimed
      settings: source.settings as StreamSettings,
      secret: openSourceSecret(deps, source),
      position: source.position,
      rowBytesMax: config.INGEST_BODY_BYTES,
      signal,
    })
    for await (const batch of stream) {
      if (signal.aborted) break
      await store(deps, source, batch)
      retryMs = batch.retryMs ?? retryMs
    }
    const dueAt = new Date(clock.now() + (signal.aborted ? 0 : retryMs))
    await releaseSource(database, { ...claimOf(source), dueAt })
  } catch (cause) {
    // A connection that this process ended has not failed.
    const settled = signal.aborted
      ? releaseSource(database, { ...claimOf(source), dueAt: new Date(clock.now()) })
      : settleFailure(deps, source, cause)
    await settled.catch((error: unknown) => retryLog.warn('source.not_settled', { cause: error }))
  }
}

/** The events and the position after them are one commit. */
async function store(deps: SourceDeps, source: ClaimedSource, { items, position }: StreamBatch): Promise<void> {
  const texts = items.filter((item) => item !== null)
  const now = deps.clock.now()
  const { workspace_id: workspaceId, conditions } = source
  const matched = await matching(deps, { workspaceId, texts, conditions })
  await storeBatch(deps, source, {
    items: matched.map((text) => ({ text, key: null })),
    unusable: items.length - texts.length,
    position,
    dueInMs: 0,
    leaseUntil: new Date(now + LEASE_MS),
  })
}
