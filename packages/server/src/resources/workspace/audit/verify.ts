import { encodeId, LIMITS, type Misfit, type RouteInput, type RouteOutput, type Routes } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { hex, misfitOf, type Anchor } from '../../../domain/workspace/audit-chain.ts'
import type { Db } from '../../../platform/db.ts'
import { openAnchor } from './anchor.ts'
import { openCursor, sealCursor, type Place } from './verify-cursor.ts'
import { findAnchor, hasHash, listChain, listChains, type AuditRow } from './queries.ts'

type Answer = RouteOutput<Routes['audit']['verify']>
export type Verification = Omit<Answer, 'next_cursor'>
type At = Pick<Deps, 'cipher'> & { readonly db: Db; readonly workspaceId: string }

const ROWS_AT_ONCE = 1_000
const WALKS_MAX = 5

/**
 * Walks a chain from the oldest retained row to the newest, without a lock and without a connection in between. It includes rows that are
 * written during the walk, and walks again when retention has moved the start.
 */
export async function verifyChain(at: At): Promise<Verification> {
  for (let walks = 1; ; walks += 1) {
    // oxlint-disable-next-line no-await-in-loop -- usually one walk, unless retention moved the start
    const { start, problem } = await walk(at, { start: await startOf(at), rowsMax: Infinity })
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (problem === undefined || walks === WALKS_MAX || !(await isMoved(at, start))) return said(start, problem)
  }
}

type Walked = { readonly start: Place; readonly problem: Problem | undefined; readonly isEnd: boolean }

const startOf = async (at: At): Promise<Place> => ({
  begun: await anchorOf(at),
  last: undefined,
  oldest: undefined,
  count: 0,
})

/** Retention has removed rows since the walk started. */
const isMoved = async (at: At, { begun }: Place): Promise<boolean> => (await anchorOf(at))?.removed !== begun?.removed

/** Continues a walk until its end, the first problem, or the page with which it has read `rowsMax` rows. */
async function walk(at: At, { start, rowsMax }: { start: Place; rowsMax: number }): Promise<Walked> {
  let place = start
  for (let read = 0; ;) {
    // The anchor is read first, so that its last row is in the page or in a previous one.
    // oxlint-disable-next-line no-await-in-loop -- page by page
    const anchor = await anchorOf(at)
    const limit = Math.min(ROWS_AT_ONCE, rowsMax - read)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const page = limit <= 0 ? [] : await listChain(at.db, { ...at, after: place.last?.id ?? null, limit })
    if (limit <= 0) return { start: place, problem: undefined, isEnd: false }
    if (page.length === 0) return { start: place, problem: problemAtEnd(place, anchor), isEnd: true }
    for (const row of page) {
      // oxlint-disable-next-line no-await-in-loop -- queries only when something is wrong
      const problem = await problemAt(at, { row, place })
      if (problem !== undefined) return { start: place, problem, isEnd: true }
      place = { ...place, last: row, oldest: place.oldest ?? row, count: place.count + 1 }
    }
    read += page.length
  }
}

/** One part of a verification: up to `rowsMax` rows after `from`, and where the next part continues. */
export async function verifyPart(
  at: At,
  { from, rowsMax }: { from: Place | undefined; rowsMax: number },
): Promise<{ readonly verification: Verification; readonly next: Place | undefined }> {
  const { start, problem, isEnd } = await walk(at, { start: from ?? (await startOf(at)), rowsMax })
  if (!isEnd) return { verification: { ...said(start, undefined), ok: false }, next: start }
  if (problem === undefined || !(await isMoved(at, start)))
    return { verification: said(start, problem), next: undefined }
  const again = await startOf(at)
  return { verification: { ...said(again, undefined), ok: false }, next: again }
}

async function anchorOf({ db, cipher, workspaceId }: At): Promise<Anchor | undefined> {
  const sealed = await findAnchor(db, workspaceId)
  return sealed === null ? undefined : openAnchor(cipher, sealed, workspaceId)
}

type Problem = { readonly kind: Misfit; readonly id: string | null; readonly at: Date | null; readonly text?: string }

async function problemAt(
  { db, workspaceId }: At,
  { row, place }: { row: AuditRow; place: Place },
): Promise<Problem | undefined> {
  const { begun } = place
  if (begun?.lost_before === row.id) return { kind: 'unanchored', id: row.id, at: row.at }
  const before =
    place.last === undefined ? (begun === undefined ? hex(row.prev_hash) : begun.tail) : hex(place.last.hash)
  const misfit = misfitOf(row, before)
  if (misfit === undefined) return undefined
  const elsewhere =
    misfit === 'missing' && row.prev_hash !== null && (await hasHash(db, { workspaceId, hash: row.prev_hash }))
  return { kind: elsewhere ? 'reordered' : misfit, id: row.id, at: row.at }
}

/** The rows fit each other. This checks that they are complete and original. */
function problemAtEnd({ last, count }: Place, anchor: Anchor | undefined): Problem | undefined {
  if (anchor === undefined) return last === undefined ? undefined : { kind: 'unanchored', id: last.id, at: last.at }
  const { head } = anchor
  const end = last === undefined ? anchor.tail : hex(last.hash)
  if (head === null || end === head.hash) return undefined
  if (last !== undefined && last.id > head.id) return { kind: 'added', id: last.id, at: last.at }
  if (last?.id === head.id) return { kind: 'rewritten', id: last.id, at: last.at }
  const missing = anchor.count - anchor.removed - count
  return { kind: 'cut_off', id: head.id, at: null, text: `${TEXTS.cut_off} ${missing} of them.` }
}

const TEXTS: Readonly<Record<Misfit, string>> = {
  changed: 'This row is not as Postroad wrote it: someone changed its content or its hash in the database.',
  missing: 'The row before this one was removed from the database, or changed together with its hash.',
  reordered: 'The row before this one is in another place: someone moved rows in the database.',
  added: 'Someone other than Postroad added this row, or one shortly before it, to the database.',
  cut_off: 'The newest rows, up to this one, were removed from the database:',
  rewritten:
    'The rows fit each other, but the last one is not the one that Postroad wrote: someone rewrote the log in the database.',
  unanchored:
    'The sealed record of the end of the log was removed, changed, or sealed with an unknown SECRET_KEY, so rows before this one may be missing.',
}
const ADVICE = 'Compare the log with an earlier backup, and find out who can write to the database.'

function said({ begun, last, oldest, count }: Place, problem: Problem | undefined): Verification {
  return {
    ok: problem === undefined,
    count,
    removed: begun?.removed ?? 0,
    oldest: oldest === undefined ? null : { id: encodeId('audit', oldest.id), at: oldest.at.toISOString() },
    newest:
      last === undefined ? null : { id: encodeId('audit', last.id), at: last.at.toISOString(), hash: hex(last.hash) },
    problem: problem === undefined ? null : presentProblem(problem),
  }
}

function presentProblem({ kind, id, at, text }: Problem): NonNullable<Verification['problem']> {
  return {
    kind,
    id: id === null ? null : encodeId('audit', id),
    at: at?.toISOString() ?? null,
    text: `${text ?? TEXTS[kind]} ${ADVICE}`,
  }
}

/** Answers a request: one part. At the end, some row must have `hash`, which proves that the recorded row still exists. */
export async function verifyAndRecord(
  at: At,
  { hash, cursor }: RouteInput<Routes['audit']['verify']>,
): Promise<Answer> {
  const from = cursor === undefined ? undefined : await openCursor(at, cursor)
  const { verification, next } = await verifyPart(at, { from, rowsMax: LIMITS.auditVerifiedRowsMax })
  if (next !== undefined) return { ...verification, next_cursor: await sealCursor(at, next) }
  const isKept =
    hash === undefined ||
    !verification.ok ||
    (await hasHash(at.db, { workspaceId: at.workspaceId, hash: Buffer.from(hash, 'hex') }))
  if (isKept) return { ...verification, next_cursor: null }
  return {
    ...verification,
    ok: false,
    problem: presentProblem({ kind: 'rewritten', id: null, at: null, text: NOT_NOTED }),
    next_cursor: null,
  }
}

const NOT_NOTED =
  'No row has the recorded hash: someone restored an older log or rewrote it, or Postroad removed the row because its retention had expired.'

/** The first problem of each broken chain of the installation. */
export async function findBrokenChains(
  at: Pick<At, 'cipher' | 'db'>,
): Promise<readonly { readonly workspace: string; readonly text: string }[]> {
  const broken: { workspace: string; text: string }[] = []
  for (const workspaceId of await listChains(at.db)) {
    // oxlint-disable-next-line no-await-in-loop -- one chain at a time
    const { problem } = await verifyChain({ ...at, workspaceId })
    if (problem !== null)
      broken.push({ workspace: encodeId('workspace', workspaceId), text: `${problem.id ?? ''}: ${problem.text}` })
  }
  return broken
}
