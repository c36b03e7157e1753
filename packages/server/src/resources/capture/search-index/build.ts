import type { Deps } from '../../../context.ts'
import { BLOCK_RECORDS, BlockFill, type Terms } from '../../../domain/capture/search-index/block.ts'
import { INDEXED_CHARS_MAX } from '../../../domain/capture/search-index/terms.ts'
import type { Db } from '../../../platform/db.ts'
import { INSTALLATION } from '../../../platform/heavy/heavy.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { buildBlock, readTerms } from '../../../tasks/index-block.ts'
import { batchesOf } from '../../batches.ts'
import { listDocuments } from '../payloads/index.ts'
import {
  findIndexedTo,
  insertBlock,
  listToIndex,
  listUnindexed,
  type SizedRow,
  type UnindexedProject,
} from './queries.ts'

/** A record is committed within 26 s after its id was created (docs/adr/0008), so a block contains only older ones. */
const SETTLED_MS = 60_000
const PROJECTS_AT_ONCE = 100
/** One round continues for this long while there is more to index. */
const ROUND_MS = 2_000
/** A round rests for at least this many times its duration, so that ingest has most of the machine. */
const REST_FACTOR = 4
const READ_BYTES_MAX = 4_194_304
const READ_ROWS_MAX = 512

/**
 * The loop that indexes stored records for searches, called every few seconds. `records`: for tests with small blocks.
 */
export function createIndexer(deps: Deps, records: number = BLOCK_RECORDS): () => Promise<Pick<LoopWork, 'failed'>> {
  let restUntil = 0
  /** Every project without records since then had less than a block to index. */
  let since = 0
  return async () => {
    const begun = deps.clock.now()
    if (begun < restUntil) return { failed: 0 }
    const settledMs = begun - SETTLED_MS
    const rows = new SeparateRows(deps.retryLog, 'search.not_indexed')
    const isDone = await indexAll(
      { deps, rows, records, settled: uuidv7Floor(settledMs), until: begun + ROUND_MS },
      uuidv7Floor(since),
    )
    if (isDone && rows.failed.length === 0) since = settledMs
    const ended = deps.clock.now()
    restUntil = ended + REST_FACTOR * (ended - begun)
    return { failed: rows.failed.length }
  }
}

type Round = {
  readonly deps: Deps
  readonly rows: SeparateRows
  readonly records: number
  readonly settled: string
  readonly until: number
}

/** Returns whether no project is left with a block to index. */
async function indexAll(round: Round, since: string): Promise<boolean> {
  const { deps, rows, records, settled, until } = round
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one list after another
    const found = await listUnindexed(deps.database.forSystem, {
      settled,
      since,
      records,
      without: rows.failed,
      limit: PROJECTS_AT_ONCE,
    })
    if (found.length === 0) return true
    for (const project of found) {
      // oxlint-disable-next-line no-await-in-loop -- one block of each project in turns
      await rows.run({ kind: 'project', id: project.project_id }, () => indexNext(round, project))
      if (deps.clock.now() >= until) return false
    }
  }
}

/** Indexes the next block of one project. */
async function indexNext({ deps, records, settled }: Round, project: UnindexedProject): Promise<void> {
  const at = { workspaceId: project.workspace_id, projectId: project.project_id }
  const db = deps.database.forWorkspace(at.workspaceId)
  const after = (await findIndexedTo(db, at)) ?? null
  const rows = await listToIndex(db, { ...at, after, settled, limit: records })
  const fill = new BlockFill()
  const [indexed, documents]: [string[], Terms[]] = [[], []]
  for (const piece of piecesOf(rows)) {
    // oxlint-disable-next-line no-await-in-loop -- only one piece is in memory
    for (const [place, terms] of (await termsOf(deps, { db, at, piece })).entries()) {
      if (fill.full) break
      fill.add(terms)
      documents.push(terms)
      indexed.push(piece[place]?.id ?? '')
    }
    if (fill.full) break
  }
  const [firstId, id] = [indexed[0], indexed.at(-1)]
  if (firstId === undefined || id === undefined) return
  const ids = Buffer.from(indexed.join('').replaceAll('-', ''), 'hex')
  const block = await deps.heavy.run(buildBlock, { workspaceId: INSTALLATION, input: documents, work: fill.terms })
  const bits = Buffer.from(block.bits.buffer, block.bits.byteOffset, block.bits.byteLength)
  // oxlint-disable-next-line house/verb-guards -- a loop indexes records; no person acts
  await db.transaction((tx) => insertBlock(tx, { ...at, id, firstId, records: indexed.length, ids, ...block, bits }))
}

type Reading = {
  readonly db: Db
  readonly at: { readonly workspaceId: string; readonly projectId: string }
  readonly piece: readonly SizedRow[]
}

/** The terms of the records of a piece. */
async function termsOf({ heavy }: Deps, { db, at, piece }: Reading): Promise<readonly Terms[]> {
  const recordIds = piece.filter(({ bytes }) => bytes <= INDEXED_BYTES_MAX).map(({ id }) => id)
  const documents = new Map((await listDocuments(db, { ...at, recordIds, request: true })).map((row) => [row.id, row]))
  const all: Terms[] = []
  for (const batch of batchesOf(piece, ({ bytes }) => Math.min(bytes, INDEXED_BYTES_MAX))) {
    const input = batch.map(({ id }) => {
      const document = documents.get(id)
      return document && { payload: document.data, headers: document.headers ?? '{}', query: document.query }
    })
    const work =
      TERMS_WORK * input.reduce((sum, one) => sum + (one?.payload.length ?? 0) + (one?.headers.length ?? 0), 0)
    // oxlint-disable-next-line no-await-in-loop -- one batch after another
    all.push(...(await heavy.run(readTerms, { workspaceId: INSTALLATION, input, work })))
  }
  return all
}

/** A character costs about as much as this many in other work. */
const TERMS_WORK = 4

/** A longer payload has too many characters in every encoding. */
const INDEXED_BYTES_MAX = INDEXED_CHARS_MAX * 3

/** Pieces that fit into memory; each has at least one row. */
function piecesOf(rows: readonly SizedRow[]): readonly (readonly SizedRow[])[] {
  const pieces: SizedRow[][] = []
  let bytes = Infinity
  for (const row of rows) {
    const last = pieces.at(-1)
    const read = Math.min(row.bytes, INDEXED_BYTES_MAX)
    if (last === undefined || bytes + read > READ_BYTES_MAX || last.length >= READ_ROWS_MAX) {
      pieces.push([row])
      bytes = read
    } else {
      last.push(row)
      bytes += read
    }
  }
  return pieces
}
