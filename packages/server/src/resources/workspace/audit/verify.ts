import { encodeId, type Misfit, type RouteOutput, type Routes } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { hex, misfitOf, type Anchor } from '../../../domain/workspace/audit-chain.ts'
import type { Db } from '../../../platform/db.ts'
import { openAnchor } from './anchor.ts'
import { findAnchor, hasHash, listChain, listChains, type AuditRow } from './queries.ts'

export type Verification = RouteOutput<Routes['audit']['verify']>
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
    const { begun, verification } = await walk(at)
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (verification.ok || walks === WALKS_MAX || (await anchorOf(at))?.removed === begun?.removed) return verification
  }
}

type Place = { readonly last: AuditRow | undefined; readonly oldest: AuditRow | undefined; readonly count: number }

async function walk(at: At): Promise<{ begun: Anchor | undefined; verification: Verification }> {
  const begun = await anchorOf(at)
  let place: Place = { last: undefined, oldest: undefined, count: 0 }
  for (;;) {
    // The anchor is read first, so that its last row is in the page or in a previous one.
    // oxlint-disable-next-line no-await-in-loop -- page by page
    const anchor = await anchorOf(at)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const page = await listChain(at.db, { ...at, after: place.last?.id ?? null, limit: ROWS_AT_ONCE })
    if (page.length === 0)
      return {
        begun,
        verification: said(place, { removed: begun?.removed ?? 0, problem: problemAtEnd(place, anchor) }),
      }
    for (const row of page) {
      // oxlint-disable-next-line no-await-in-loop -- queries only when something is wrong
      const problem = await problemAt(at, { row, place, begun })
      if (problem !== undefined) return { begun, verification: said(place, { removed: begun?.removed ?? 0, problem }) }
      place = { last: row, oldest: place.oldest ?? row, count: place.count + 1 }
    }
  }
}

async function anchorOf({ db, cipher, workspaceId }: At): Promise<Anchor | undefined> {
  const sealed = await findAnchor(db, workspaceId)
  return sealed === null ? undefined : openAnchor(cipher, sealed, workspaceId)
}

type Problem = { readonly kind: Misfit; readonly id: string | null; readonly at: Date | null; readonly text?: string }

async function problemAt(
  { db, workspaceId }: At,
  of: { row: AuditRow; place: Place; begun: Anchor | undefined },
): Promise<Problem | undefined> {
  const { row, place, begun } = of
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

function said(
  { last, oldest, count }: Place,
  { removed, problem }: { removed: number; problem: Problem | undefined },
): Verification {
  return {
    ok: problem === undefined,
    count,
    removed,
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

/** Like `verifyChain`, but some row must also have this hash, which proves that the recorded row still exists. */
export async function verifyAndRecord(at: At, hash: string | undefined): Promise<Verification> {
  const verification = await verifyChain(at)
  if (hash === undefined || !verification.ok) return verification
  if (await hasHash(at.db, { workspaceId: at.workspaceId, hash: Buffer.from(hash, 'hex') })) return verification
  return {
    ...verification,
    ok: false,
    problem: presentProblem({ kind: 'rewritten', id: null, at: null, text: NOT_NOTED }),
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
