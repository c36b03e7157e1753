import { setTimeout as sleep } from 'node:timers/promises'
import { countOutstanding } from './queries.ts'
import type { Stage } from './stage.ts'

const POLL_MS = 200

/** Waits until every delivery and workflow instance has ended, at most `patienceMs`. Counts those that have not. */
export async function drain(
  stage: Stage,
  { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
): Promise<{ readonly outstanding: number; readonly drainMs: number }> {
  const began = performance.now()
  const database = stage.openDatabase()
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one question at a time
      const outstanding = await countOutstanding(database, { workspaceId: stage.workspaceId })
      const drainMs = performance.now() - began
      if (outstanding === 0 || drainMs > patienceMs) return { outstanding, drainMs }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(POLL_MS, undefined, { signal })
    }
  } finally {
    await database.close()
  }
}
