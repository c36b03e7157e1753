import { LIMITS, type ForwardedContent, type ForwardedSignal } from '@postroad/contract'
import type { Piece } from '../../domain/serving/forwarding/items.ts'
import type { Redaction } from '../../domain/serving/forwarding/redact.ts'
import type { Db } from '../../platform/db.ts'
import { uuidv7Ms } from '../../platform/ids.ts'
import {
  readAiRuns,
  readAttempts,
  readAuditRows,
  readInstances,
  readRejections,
  readSteps,
  readSubmissions,
  type AttemptRow,
  type RowsAt,
} from '../../resources/serving/forwarders/rows/queries.ts'
import { pieceOfAttempt } from './attempts.ts'
import { pieceOfAuditRow, pieceOfRejection } from './counts.ts'
import { pieceOfAiRun, pieceOfInstance } from './runs.ts'
import { pieceOfSubmission } from './submissions.ts'

export type ReadAt = RowsAt & {
  /** The floor of the next round: rows from then on are found again, so they need not be remembered. */
  readonly nextFloor: number
  /** The start of the round. */
  readonly now: number
  /** Rows that had not ended when they were seen. */
  readonly open: readonly string[]
  readonly payloads: boolean
  readonly redaction: Redaction
}

/** A row to send, or an open one, which the next round reads again. */
export type Found = { readonly id: string; readonly piece: Piece | 'open' | 'later' }

type Kind = {
  readonly content: ForwardedContent
  readonly signals: readonly ForwardedSignal[]
  /** In the order of ids. */
  readonly read: (db: Db, at: ReadAt) => Promise<readonly Found[]>
}

const STEPS_PER_INSTANCE_MAX = 200
const MINUTE_MS = 60_000
/** Requests of a minute are counted up to a second late. */
const COUNTED_LATE_MS = 10_000

const BOTH = ['logs', 'traces'] as const

/** Every kind of row. A round reads them in this order, which is the order of the contract. */
export const KINDS: readonly Kind[] = [
  {
    content: 'submissions',
    signals: BOTH,
    read: async (db, at) => {
      const bodyBytesMax = at.payloads ? LIMITS.forwardedBodyBytesMax : null
      const rows = await readSubmissions(db, { ...at, bodyBytesMax })
      return rows.map((row) => ({ id: row.id, piece: pieceOfSubmission(row, at.redaction) }))
    },
  },
  {
    content: 'attempts',
    signals: BOTH,
    read: async (db, at) => {
      const rows = await readAttempts(db, at)
      return rows.map((row) => ({ id: row.id, piece: attemptFound(row, at) }))
    },
  },
  {
    content: 'rejections',
    signals: ['logs'],
    read: async (db, at) => {
      const floor = at.floor - MINUTE_MS
      const rows = await readRejections(db, { ...at, floor })
      const isOver = (id: string): boolean => uuidv7Ms(id) + MINUTE_MS + COUNTED_LATE_MS <= at.now
      return rows.map((row) => ({ id: row.id, piece: row.seen && isOver(row.id) ? pieceOfRejection(row) : 'open' }))
    },
  },
  {
    content: 'workflow_instances',
    signals: BOTH,
    read: async (db, at) => {
      const rows = await readInstances(db, at)
      const ids = rows.map(({ id }) => id)
      const steps = ids.length === 0 ? [] : await readSteps(db, { ...at, ids, perInstanceMax: STEPS_PER_INSTANCE_MAX })
      const of = Map.groupBy(steps, (step) => step.instance_id)
      return rows.map((row) => ({ id: row.id, piece: pieceOfInstance(row, of.get(row.id) ?? []) }))
    },
  },
  {
    content: 'ai_runs',
    signals: BOTH,
    read: async (db, at) => (await readAiRuns(db, at)).map((row) => ({ id: row.id, piece: pieceOfAiRun(row) })),
  },
  {
    content: 'audit',
    signals: ['logs'],
    read: async (db, at) => (await readAuditRows(db, at)).map((row) => ({ id: row.id, piece: pieceOfAuditRow(row) })),
  },
]

/** If the end of the round does not see an attempt, the next round finds it, provided that round looks back so far. */
function attemptFound(row: AttemptRow, { nextFloor }: ReadAt): Found['piece'] {
  if (!row.seen) return uuidv7Ms(row.id) < nextFloor ? 'open' : 'later'
  return row.outcome === null ? 'open' : pieceOfAttempt(row)
}
