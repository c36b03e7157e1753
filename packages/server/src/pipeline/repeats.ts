import type { Deps } from '../context.ts'
import { DbError } from '../platform/db.ts'
import { addRepeats, type RepeatsRow } from '../resources/capture/submissions/repeats/queries.ts'
import type { Duplicate, Routed, Verified } from './types.ts'

/** Repeats, counted in memory and written to their submissions a second later, as refusals are (docs/adr/0011). */
export type Repeats = {
  /** Counts a repeat at the submission with which it was answered. Runs no statement and never fails. */
  duplicate(verified: Verified, duplicate: Duplicate): void
  /** Remembers an event with a key, whose key an earlier event with another body may have had. */
  stored(event: Routed): void
  /** Writes the counts. Must be called every second, and once more at the end. */
  flush(): Promise<void>
}

/** The most submissions in memory at the same time. Beyond, repeats are not counted. */
const ENTRIES_MAX = 10_000
const ROWS_PER_STATEMENT = 1_000

export function createRepeats(deps: Deps): Repeats {
  let counted = new Map<string, RepeatsRow>()
  let running: Promise<void> = Promise.resolve()

  const add = (row: RepeatsRow): void => {
    const known = counted.get(row.submissionId)
    if (known === undefined && counted.size >= ENTRIES_MAX) return
    counted.set(row.submissionId, {
      ...row,
      idHash: row.idHash ?? known?.idHash ?? null,
      duplicates: row.duplicates + (known?.duplicates ?? 0),
      at: Math.max(row.at, known?.at ?? 0),
    })
  }

  const write = async (): Promise<void> => {
    const taken = [...counted.values()]
    counted = new Map()
    for (let from = 0; from < taken.length; from += ROWS_PER_STATEMENT) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one statement at a time, so that ingest finds the database free
        await addRepeats(deps.database, taken.slice(from, from + ROWS_PER_STATEMENT))
      } catch (cause) {
        // Counts that may have been written are not written again, so a count never exceeds the real number.
        const unknown = cause instanceof DbError && cause.outcome === 'unknown'
        for (const row of taken.slice(unknown ? from + ROWS_PER_STATEMENT : from)) add(row)
        throw cause
      }
    }
  }

  return {
    duplicate: ({ captured: { receivedAt: at }, receiver: { plan } }, { answer: { submissionId } }) => {
      const { workspaceId, projectId } = plan
      add({ workspaceId, projectId, submissionId, idHash: null, duplicates: 1, at })
    },
    stored: ({ submissionId, verified: { idempotency, captured, receiver } }) => {
      if (idempotency?.id === undefined) return
      const { workspaceId, projectId } = receiver.plan
      add({ workspaceId, projectId, submissionId, idHash: idempotency.id, duplicates: 0, at: captured.receivedAt })
    },
    flush: () => {
      running = running.catch(() => undefined).then(() => (counted.size === 0 ? undefined : write()))
      return running
    },
  }
}
