import { readFileSync } from 'node:fs'
import { encodeId } from '@postroad/contract'
import type { Answer, Load, Sent } from './load.ts'
import type { Blow } from './nemesis.ts'
import { attempts, deliveries, storedEvents, type AttemptRow, type DeliveryRow, type StoredRow } from './queries.ts'
import type { Life } from './server-process.ts'
import type { Receipt, Sink } from './sink.ts'
import type { Stage } from './stage.ts'

/** A destination as the scenario created it. `datasets` null: it gets all datasets. */
export type DestinationFact = {
  readonly id: string
  readonly name: string
  readonly datasets: readonly string[] | null
  readonly maxInFlight: number
}

/** Everything that any party saw, with public ids. The checks read nothing else. */
export type Evidence = {
  readonly sent: readonly Sent[]
  readonly answers: readonly Answer[]
  readonly receipts: readonly Receipt[]
  readonly destinations: readonly DestinationFact[]
  readonly blows: readonly Blow[]
  readonly lives: readonly Life[]
  readonly stored: readonly StoredRow[]
  readonly deliveries: readonly DeliveryRow[]
  readonly attempts: readonly AttemptRow[]
  /** Record ids that the admin API lists. */
  readonly listed: ReadonlySet<string>
  /** The findings of `doctor --json`, or its exit code when it printed none. */
  readonly doctor: readonly string[]
  /** Lines of the server's log that report an unexpected fault. */
  readonly cries: readonly string[]
  /** Deliveries that had not ended when the wait ended. */
  readonly outstanding: number
  readonly drainMs: number
}

export type Witnesses = {
  readonly stage: Stage
  readonly load: Load
  readonly sink: Sink
  readonly destinations: readonly DestinationFact[]
  readonly blows: readonly Blow[]
  readonly drained: { readonly outstanding: number; readonly drainMs: number }
}

/** Collects the ledgers, and the server's data from SQL, its API and its doctor. The server must be running. */
export async function gather({ stage, load, sink, destinations, blows, drained }: Witnesses): Promise<Evidence> {
  const database = stage.openDatabase()
  try {
    const at = { workspaceId: stage.workspaceId }
    const stored = await storedEvents(database, at)
    const deliveryRows = await deliveries(database, at)
    const attemptRows = await attempts(database, at)
    return {
      sent: load.sent.entries,
      answers: load.answers.entries,
      receipts: sink.receipts.entries,
      destinations,
      blows,
      lives: stage.server.lives,
      stored: stored.map((row) => ({
        ...row,
        record_id: row.record_id === null ? null : encodeId('record', row.record_id),
      })),
      deliveries: deliveryRows.map((row) => ({
        ...row,
        id: encodeId('delivery', row.id),
        record_id: encodeId('record', row.record_id),
        destination_id: encodeId('destination', row.destination_id),
      })),
      attempts: attemptRows.map((row) => ({
        ...row,
        id: encodeId('attempt', row.id),
        delivery_id: encodeId('delivery', row.delivery_id),
      })),
      listed: await listRecords(stage),
      doctor: await consult(stage),
      cries: readCries(stage.logFile),
      ...drained,
    }
  } finally {
    await database.close()
  }
}

async function listRecords(stage: Stage): Promise<ReadonlySet<string>> {
  const listed = new Set<string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    // oxlint-disable-next-line no-await-in-loop, typescript/no-unsafe-type-assertion -- page by page; the shape is the contract's
    const page = (await stage.admin(
      'GET',
      `records?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )) as RecordsPage
    for (const record of page.records) listed.add(record.id)
    cursor = page.next_cursor
  }
  return listed
}

type RecordsPage = { readonly records: readonly { readonly id: string }[]; readonly next_cursor: string | null }

async function consult(stage: Stage): Promise<readonly string[]> {
  const { code, printed, said } = await stage.command(['doctor', '--json'])
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `doctor --json` prints this shape; anything else throws below
    const { findings } = JSON.parse(printed) as { findings: readonly { check: string; ok: boolean; found: number }[] }
    const wrong = findings.filter((finding) => !finding.ok).map((finding) => `${finding.check}: ${finding.found}`)
    return code === 0 || wrong.length > 0 ? wrong : [`exit code ${code} without a finding`]
  } catch {
    return [`exit code ${code}: ${said.slice(0, 300)}`]
  }
}

/** The server's own report that its PostgreSQL died is the only error that the blows explain. */
const EXPECTED_ERRORS: readonly unknown[] = ['postgres.exited']
const PINO_ERROR = 50

/** Errors in the log, and every stack that is not a log line: uncaught rejections and exceptions. */
function readCries(logFile: string): readonly string[] {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => {
      if (!line.startsWith('{')) return /unhandled|uncaught|^\w*Error\b|^postroad:|^\s+at /i.test(line)
      return isUnexpected(line)
    })
}

function isUnexpected(line: string): boolean {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a pino line
    const { level, event, signal } = JSON.parse(line) as { level?: number; event?: unknown; signal?: unknown }
    // Nobody else sends SIGKILL to one of several processes.
    const isBlow = event === 'worker.died' && signal === 'SIGKILL'
    return (level ?? 0) >= PINO_ERROR && !isBlow && !EXPECTED_ERRORS.includes(event)
  } catch {
    // A line that a kill cut short.
    return false
  }
}
