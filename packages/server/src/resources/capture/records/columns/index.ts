import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { forget, keysOf, knownColumns, learn, type KnownColumns } from '../../../../domain/capture/known-columns.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../../platform/ids.ts'
import { keysOfList } from '../../../../tasks/key-lists.ts'
import { findColumnsIn } from '../../../../tasks/record-table.ts'
import {
  findOldestSubmission,
  findRecordColumns,
  listPayloadsAfter,
  saveRecordColumns,
  type OfWebhook,
} from './queries.ts'

const { columnsCharsMax, columnsReadRecordsMax, columnsReadBytesMax } = LIMITS

/** A submission is committed within this time after its id was created. The next call reads younger ones again. */
const SETTLED_MS = 30_000
/** Each piece is one task, so pieces are small. */
const PIECE = { limit: 500, bytesMax: 524_288 }
/** A character costs about as much as this many in other work, because its path is written again for each value. */
const FLATTEN_WORK = 16
/** Within this time, only submissions without a record are read repeatedly. */
const HOUR_MS = 3_600_000
const BEGIN = '00000000-0000-0000-0000-000000000000'
const END = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export type FoundColumns = { readonly keys: readonly string[]; readonly complete: boolean }
type Asking = Pick<Ctx, 'db' | 'clock' | 'heavy'>

/**
 * The keys of all retained records of an endpoint. Earlier calls store the keys that they found, so a call reads only later records. One
 * call reads at most 50,000 records or 4 MiB, and the next one continues (docs/adr/0065).
 */
export async function findColumns(ctx: Asking, of: OfWebhook): Promise<FoundColumns> {
  const [stored, oldest] = await Promise.all([findRecordColumns(ctx.db, of), findOldestSubmission(ctx.db, of)])
  const known =
    stored === undefined ? knownColumns() : knownColumns(Object.entries(lastSeenOf(stored.last_seen)), stored.missed_at)
  forget(known, oldest ?? null)
  const toEnd = await readOn(ctx, { of, known, from: stored?.scanned_to ?? BEGIN })
  return { keys: keysOf(known), complete: toEnd && known.missedAt === null }
}

function lastSeenOf(text: string): Readonly<Record<string, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `save`
  return JSON.parse(text) as Record<string, string>
}

type Reading = { readonly of: OfWebhook; readonly known: KnownColumns; readonly from: string }

/** Returns whether every record was read. Stores the keys of settled records; younger records are read each time. */
async function readOn(ctx: Asking, { of, known, from }: Reading): Promise<boolean> {
  const settled = uuidv7Floor(ctx.clock.now() - SETTLED_MS)
  const budget = { records: columnsReadRecordsMax, bytes: columnsReadBytesMax }
  const old = await readUntil(ctx, { of, known, budget, after: from, upTo: settled })
  const to = old.toEnd ? settled : old.after
  if (to > from && (old.after > from || uuidv7Ms(to) - uuidv7Ms(from) > HOUR_MS)) {
    const last_seen = JSON.stringify(Object.fromEntries(known.lastSeen))
    await saveRecordColumns(ctx.db, { ...of, scanned_to: to, last_seen, missed_at: known.missedAt })
  }
  if (!old.toEnd) return false
  return (await readUntil(ctx, { of, known, budget, after: to > from ? to : from, upTo: END })).toEnd
}

type Piecewise = Omit<Reading, 'from'> & {
  readonly budget: { records: number; bytes: number }
  readonly after: string
  readonly upTo: string
}

/** Reads piece by piece until the end or until the budget is used up. */
async function readUntil(
  ctx: Asking,
  { of, known, budget, upTo, after: from }: Piecewise,
): Promise<{ readonly after: string; readonly toEnd: boolean }> {
  let after = from
  while (budget.records > 0 && budget.bytes > 0) {
    // oxlint-disable-next-line no-await-in-loop -- each piece starts where the previous one ended
    const piece = await listPayloadsAfter(ctx.db, { ...of, after, upTo, ...PIECE })
    if (piece.length === 0) return { after, toEnd: true }
    const payloads = piece.map(({ data }) => data)
    const work = FLATTEN_WORK * payloads.reduce((sum, data) => sum + (data?.length ?? 0), 0)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const found = await ctx.heavy.run(findColumnsIn, { workspaceId: of.workspaceId, input: payloads, work })
    for (const [at, { submission_id, data }] of piece.entries()) {
      learn(known, {
        keys: keysOfList(found, at),
        complete: found.complete[at] === true,
        at: submission_id,
        charsMax: columnsCharsMax,
      })
      after = submission_id
      budget.records -= 1
      budget.bytes -= Buffer.byteLength(data ?? '')
    }
  }
  return { after, toEnd: false }
}
