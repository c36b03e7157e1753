import { encodeId, LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { separately } from '../../../platform/separately.ts'
import { LEFT_OUT } from '../../tables.ts'
import { listProjectIds } from '../projects/index.ts'
import { archive, CHUNK_BYTES, type Entry } from './archive.ts'
import { FILES } from './contents.ts'
import type { Scope } from './lines.ts'
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

/** Longer than any page takes. A writer that is silent for this long has died. */
const LEASE_MS = 60_000
/** The longest interval between two reports of the progress. */
const REPORT_MS = 2_000
/** An export that broke off starts again after `AGAIN_MS`, until it has started `BEGINS_MAX` times. */
const AGAIN_MS = 30_000
const BEGINS_MAX = 5
const CHUNKS_AT_ONCE = 20
const COUNTED_AT_ONCE = 20_000
const DAY_MS = 86_400_000
/** The clocks of nodes differ by less, so events that any node accepted before the request are in the export. */
const SKEW_MS = 1_000

/** The writer of exports. `run` removes expired ones, and writes requested ones; `stop` interrupts it, so that another process starts again. */
export type Exporter = { run(): Promise<LoopWork>; stop(): void }

/** Ends a run before its export is finished, although the export itself has no error. */
class BrokenOff extends Error {
  override name = 'BrokenOff'
}

const lost = (): BrokenOff => new BrokenOff('The export was deleted, or another process writes it.')

export function createExporter(deps: Deps): Exporter {
  let stopping = false
  return {
    run: async () => {
      const rows = new SeparateRows(deps.retryLog, 'data_export.not_ended')
      await separately([() => sweep(deps, rows), () => writeAll(deps, rows, () => stopping)], (part) => part())
      return rows.outcome
    },
    stop: () => {
      stopping = true
    },
  }
}

// oxlint-disable-next-line max-params -- the dependencies, the rows, and whether to stop
async function writeAll(deps: Deps, rows: SeparateRows, stopped: () => boolean): Promise<void> {
  for (;;) {
    if (stopped()) return
    const now = deps.clock.now()
    // oxlint-disable-next-line no-await-in-loop -- one export after another
    const row = await claimExport(deps.database, { now: new Date(now), until: new Date(now + LEASE_MS) })
    if (row === undefined) return
    // oxlint-disable-next-line no-await-in-loop -- as above
    await rows.run({ kind: 'dataExport', id: row.id }, () => write(deps, row, stopped))
  }
}

/** Writes from the start, because a zip cannot be resumed in the middle. */
// oxlint-disable-next-line max-params -- the dependencies, the export, and whether to stop
async function write(deps: Deps, row: ExportRow, stopped: () => boolean): Promise<void> {
  const claim: Claim = { workspaceId: row.workspace_id, id: row.id, claim: row.claim }
  const names = { workspace: encodeId('workspace', row.workspace_id), export: encodeId('dataExport', row.id) }
  // Restricted to the rows of this workspace, even if a statement forgets that.
  const database = deps.database.forWorkspace(row.workspace_id)
  const reporter = createReporter(deps, { claim, stopped })
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
    reporter.progress.rowsTotal = await countRows(scope, reporter)
    const { chunks, hash } = await archive(entriesOf(scope, reporter), { at: row.created_at })
    let number = 0
    for await (const data of chunks) {
      reporter.progress.bytes = number * CHUNK_BYTES + data.length
      await reporter.report({ number, data })
      number += 1
    }
    const now = deps.clock.now()
    await reporter.report()
    const finished = await finishExport(deps.database, {
      ...claim,
      now: new Date(now),
      expiresAt: new Date(now + LIMITS.dataExportRetentionDays * DAY_MS),
      sha256: hash(),
    })
    if (!finished) throw lost()
    deps.log.info('data_export.finished', {
      ...names,
      rows: reporter.progress.rowsDone,
      bytes: reporter.progress.bytes,
    })
  } catch (cause) {
    await brokeOff(deps, row, { claim, cause })
  }
}

// oxlint-disable-next-line max-params -- the dependencies, the export, and the cause
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
      error: `Postroad started the export ${BEGINS_MAX} times, and it failed each time. Create a new one. If that fails too, see the server log for the cause.`,
    })
}

type Reporter = {
  readonly progress: { filesDone: number; rowsDone: number; rowsTotal: number; bytes: number }
  /** Reports the progress, and throws when the run must end. */
  report(chunk?: { number: number; data: Uint8Array }): Promise<void>
  /** Like `report`, unless the last report was recent. */
  now(): Promise<void>
}

function createReporter(deps: Deps, { claim, stopped }: { claim: Claim; stopped: () => boolean }): Reporter {
  const progress = { filesDone: 0, rowsDone: 0, rowsTotal: 0, bytes: 0 }
  let reportedAt = deps.clock.now()
  const report: Reporter['report'] = async (chunk) => {
    if (stopped()) throw new BrokenOff('The server is stopping.')
    reportedAt = deps.clock.now()
    const held = await putProgress(deps.database, {
      ...claim,
      ...progress,
      until: new Date(reportedAt + LEASE_MS),
      ...(chunk === undefined ? {} : { chunk }),
    })
    if (!held) throw lost()
  }
  return {
    progress,
    report,
    now: async () => {
      if (stopped() || deps.clock.now() - reportedAt >= REPORT_MS) await report()
    },
  }
}

function entriesOf(scope: Scope, reporter: Reporter): readonly Entry[] {
  const { progress } = reporter
  const rows: Record<string, number> = {}
  const files = Object.entries(FILES).map(([name, lines]) => ({
    name: `${name}.ndjson`,
    content: async function* content() {
      rows[`${name}.ndjson`] = 0
      for await (const page of lines(scope)) {
        progress.rowsDone += page.length
        rows[`${name}.ndjson`] = (rows[`${name}.ndjson`] ?? 0) + page.length
        await reporter.now()
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

/** Counts in pieces along the keys, so that no statement runs long. */
async function countRows({ ctx, projectIds, before }: Scope, reporter: Reporter): Promise<number> {
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
        // oxlint-disable-next-line no-await-in-loop -- as above
        await reporter.now()
      }
    }
  }
  return sum
}

const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Deletes the pieces that another process has left of the file. */
async function emptied({ database }: Deps, { workspaceId, id }: Pick<Claim, 'workspaceId' | 'id'>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one piece after the other
  while ((await deleteChunks(database, { workspaceId, id, limit: CHUNKS_AT_ONCE })) > 0);
}

/** Removes the files of exports that have ended. */
async function sweep(deps: Deps, rows: SeparateRows): Promise<void> {
  for (;;) {
    const now = new Date(deps.clock.now())
    // oxlint-disable-next-line no-await-in-loop -- one export after another
    const over = await findUnswept(deps.database, { now, without: rows.failed })
    if (over === undefined) return
    const at = { workspaceId: over.workspace_id, id: over.id }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await rows.run({ kind: 'dataExport', id: over.id }, async () => {
      await emptied(deps, at)
      await setSwept(deps.database, { ...at, now })
    })
  }
}
