import { encodeId, LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import { listProjectIds } from '../projects/index.ts'
import { archive, CHUNK_BYTES, type Entry } from './archive.ts'
import { LEFT_OUT, SOURCES, type Scope } from './contents.ts'
import {
  claimExport,
  deleteChunks,
  failExport,
  findUnswept,
  finishExport,
  putProgress,
  releaseExport,
  setSwept,
  type Claim,
  type ExportRow,
} from './queries.ts'
import { countFew, countPiece, type CountedTable } from './read/queries.ts'

/** Longer than any page takes; who is silent for so long has died. */
const LEASE_MS = 60_000
/** How often progress is told at least. */
const TELL_MS = 2_000
/** What broke off is begun again after so long, and so often. */
const AGAIN_MS = 30_000
const BEGINS_MAX = 5
const CHUNKS_AT_ONCE = 20
const COUNTED_AT_ONCE = 20_000
const DAY_MS = 86_400_000
/** The clocks of nodes differ by less: what was accepted before an export was asked for is in it, whichever node took it. */
const SKEW_MS = 1_000

/** The writer of exports. `run` writes what is asked for and removes what is over; `stop` lets it break off, for another to begin again. */
export type Exporter = { run(): Promise<void>; stop(): void }

/** Why a run ends before its export does: not an error of it. */
class BrokenOff extends Error {
  override name = 'BrokenOff'
}

const lost = (): BrokenOff => new BrokenOff('It was deleted, or another process writes it.')

export function createExporter(deps: Deps): Exporter {
  let stopping = false
  return {
    run: async () => {
      await sweep(deps)
      for (;;) {
        if (stopping) return
        const now = deps.clock.now()
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const row = await claimExport(deps.database, { now: new Date(now), until: new Date(now + LEASE_MS) })
        if (row === undefined) return
        // oxlint-disable-next-line no-await-in-loop -- likewise
        await write(deps, row, () => stopping)
      }
    },
    stop: () => {
      stopping = true
    },
  }
}

/** From the begin: a zip cannot be gone on with in its middle. */
// oxlint-disable-next-line max-params -- what I may use, what I was asked, and whether to go on
async function write(deps: Deps, row: ExportRow, stopped: () => boolean): Promise<void> {
  const claim: Claim = { workspaceId: row.workspace_id, id: row.id, claim: row.claim }
  const names = { workspace: encodeId('workspace', row.workspace_id), export: encodeId('dataExport', row.id) }
  // Rows of this workspace and of no other, whatever a statement forgets.
  const database = deps.database.forWorkspace(row.workspace_id)
  const telling = createTelling(deps, { claim, stopped })
  try {
    await emptied(deps, claim)
    const scope: Scope = {
      ctx: {
        ...asSystem(deps, { workspaceId: row.workspace_id, projectId: '', requestId: 'data_export' }),
        database,
        db: database,
      },
      projectIds: await listProjectIds(database, row.workspace_id),
      before: new Date(row.created_at.getTime() + SKEW_MS),
    }
    telling.progress.rowsTotal = await countRows(scope, telling)
    const { chunks, hash } = archive(entriesOf(scope, telling), { at: row.created_at })
    let number = 0
    for await (const data of chunks) {
      telling.progress.bytes = number * CHUNK_BYTES + data.length
      await telling.tell({ number, data })
      number += 1
    }
    const now = deps.clock.now()
    await telling.tell()
    const finished = await finishExport(deps.database, {
      ...claim,
      now: new Date(now),
      expiresAt: new Date(now + LIMITS.dataExportKeptDays * DAY_MS),
      sha256: hash(),
    })
    if (!finished) throw lost()
    deps.log.info('data_export.finished', { ...names, rows: telling.progress.rowsDone, bytes: telling.progress.bytes })
  } catch (cause) {
    await brokeOff(deps, row, { claim, cause })
  }
}

// oxlint-disable-next-line max-params -- what I may use, of which export, and what happened
async function brokeOff(deps: Deps, row: ExportRow, { claim, cause }: { claim: Claim; cause: unknown }): Promise<void> {
  const now = deps.clock.now()
  const ours = cause instanceof BrokenOff
  if (!ours) deps.log.warn('data_export.broke_off', { export: encodeId('dataExport', row.id), begun: row.claim, cause })
  if (ours || row.claim < BEGINS_MAX)
    await releaseExport(deps.database, { ...claim, from: new Date(ours ? now : now + AGAIN_MS) })
  else
    await failExport(deps.database, {
      ...claim,
      now: new Date(now),
      error: `It was begun ${BEGINS_MAX} times and broke off each time. Ask for a new one; if that fails too, the log of the server says why.`,
    })
}

type Telling = {
  readonly progress: { filesDone: number; rowsDone: number; rowsTotal: number; bytes: number }
  /** Says how far it is, and learns whether to go on. */
  tell(chunk?: { number: number; data: Uint8Array }): Promise<void>
  /** The same, if it was not said lately. */
  now(): Promise<void>
}

function createTelling(deps: Deps, { claim, stopped }: { claim: Claim; stopped: () => boolean }): Telling {
  const progress = { filesDone: 0, rowsDone: 0, rowsTotal: 0, bytes: 0 }
  let toldAt = deps.clock.now()
  const tell: Telling['tell'] = async (chunk) => {
    if (stopped()) throw new BrokenOff('The server stops.')
    toldAt = deps.clock.now()
    const held = await putProgress(deps.database, {
      ...claim,
      ...progress,
      until: new Date(toldAt + LEASE_MS),
      ...(chunk === undefined ? {} : { chunk }),
    })
    if (!held) throw lost()
  }
  return {
    progress,
    tell,
    now: async () => {
      if (stopped() || deps.clock.now() - toldAt >= TELL_MS) await tell()
    },
  }
}

function entriesOf(scope: Scope, telling: Telling): readonly Entry[] {
  const { progress } = telling
  const rows: Record<string, number> = {}
  const files = SOURCES.map(({ name, lines }) => ({
    name: `${name}.ndjson`,
    content: async function* content() {
      rows[`${name}.ndjson`] = 0
      for await (const page of lines(scope)) {
        progress.rowsDone += page.length
        rows[`${name}.ndjson`] = (rows[`${name}.ndjson`] ?? 0) + page.length
        await telling.now()
        if (page.length > 0) yield `${page.join('\n')}\n`
      }
      progress.filesDone += 1
    },
  }))
  const manifest = {
    name: 'manifest.json',
    content: async function* content() {
      const { workspaceId } = scope.ctx
      yield `${JSON.stringify({ format: 'postroad-export', version: 1, workspace_id: encodeId('workspace', workspaceId), before: scope.before.toISOString(), rows, left_out: LEFT_OUT }, null, 2)}\n`
    },
  }
  return [...files, manifest]
}

const COUNTED: readonly CountedTable[] = ['submissions', 'records', 'deliveries', 'rejections']

/** In pieces along the keys, so that no statement runs long. */
async function countRows({ ctx, projectIds, before }: Scope, telling: Telling): Promise<number> {
  const { db, workspaceId } = ctx
  let sum = await countFew(db, { workspaceId, projectIds, before })
  for (const table of COUNTED) {
    for (const projectId of projectIds) {
      for (let after: string | null = NO_ID; after !== null;) {
        // oxlint-disable-next-line no-await-in-loop -- one piece after the other
        const piece: { count: number; last: string | null } = await countPiece(db, {
          table,
          workspaceId,
          projectId,
          after,
          before: uuidv7Floor(before.getTime()),
          limit: COUNTED_AT_ONCE,
        })
        sum += piece.count
        after = piece.last
        // oxlint-disable-next-line no-await-in-loop -- likewise
        await telling.now()
      }
    }
  }
  return sum
}

const NO_ID = '00000000-0000-0000-0000-000000000000'

/** What another process has left of the file. */
async function emptied({ database }: Deps, { workspaceId, id }: Pick<Claim, 'workspaceId' | 'id'>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one piece after the other
  while ((await deleteChunks(database, { workspaceId, id, limit: CHUNKS_AT_ONCE })) > 0);
}

/** Removes the files of exports that are over. */
async function sweep(deps: Deps): Promise<void> {
  for (;;) {
    const now = new Date(deps.clock.now())
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const over = await findUnswept(deps.database, now)
    if (over === undefined) return
    const at = { workspaceId: over.workspace_id, id: over.id }
    // oxlint-disable-next-line no-await-in-loop -- likewise
    await emptied(deps, at)
    // oxlint-disable-next-line no-await-in-loop -- likewise
    await setSwept(deps.database, { ...at, now })
  }
}
