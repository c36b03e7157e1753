import type { Deps } from '../context.ts'
import { touchIngestKey } from '../resources/capture/ingest-keys/queries.ts'
import type { Receiver } from './types.ts'

/** Records when ingest keys were last used. It runs beside the road, so that no request waits for it. */
export type KeyUses = { note(use: Pick<Receiver, 'plan' | 'ingestKeyId'>): void }

const MINUTE_MS = 60_000
const KEYS_MAX = 50_000

/** Writes at most once a minute for each key, and never for requests without one. */
export function createKeyUses(deps: Deps): KeyUses {
  const recordedAt = new Map<string, number>()
  return {
    note: ({ plan: { workspaceId, projectId }, ingestKeyId }) => {
      if (ingestKeyId === undefined) return
      const now = deps.clock.now()
      const last = recordedAt.get(ingestKeyId)
      if (last !== undefined && now < last + MINUTE_MS) return
      if (recordedAt.size >= KEYS_MAX) recordedAt.clear()
      recordedAt.set(ingestKeyId, now)
      touchIngestKey(deps.database, { workspaceId, projectId, id: ingestKeyId, now: new Date(now) }).catch(
        (cause: unknown) => deps.retryLog.warn('ingest_key.use_not_persisted', { cause }),
      )
    },
  }
}
