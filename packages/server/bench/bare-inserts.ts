/** The other ceiling of ingest: the same rows with the same driver into the same PostgreSQL, without HTTP, checks or routing. */
import { openDatabase, type Database, type DatabaseTarget } from '../src/platform/db.ts'
import { createUuidv7 } from '../src/platform/ids.ts'
import { answer } from './child.ts'
import { payloadOf } from './payload.ts'
import { insertBare, makeBareTables, type BareRow } from './queries.ts'
import { nowMs } from './statistics.ts'

export type BareInsertsVerbs = {
  open(target: DatabaseTarget): Promise<void>
  run(input: { ms: number; batchRows: number; batchesInFlight: number }): Promise<{ rows: number; perSecond: number }>
}

const EPOCH_MS = Date.UTC(2026, 0, 15)
const HEADERS = JSON.stringify({
  host: '127.0.0.1:4680',
  'user-agent': 'bench',
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
  'content-length': '1024',
})
const DECISION = JSON.stringify({ criteria: { matched: true, failed: null }, destinations: [] })
const uuidv7 = createUuidv7()
const WORKSPACE = uuidv7(EPOCH_MS)
const bodies = Array.from({ length: 512 }, (_unused, index) => payloadOf(index))
let made = 0
let database: Database | undefined

async function open(target: DatabaseTarget): Promise<void> {
  database = openDatabase({ target, connectionsMax: 10, applicationName: 'bench', statementTimeoutMs: 5_000 })
  await makeBareTables(database)
}

async function run({ ms, batchRows, batchesInFlight }: { ms: number; batchRows: number; batchesInFlight: number }) {
  const startedAt = nowMs()
  let rows = 0
  await Promise.all(
    Array.from({ length: batchesInFlight }, async () => {
      while (nowMs() - startedAt < ms) {
        const batch = Array.from({ length: batchRows }, aRow)
        // oxlint-disable-next-line no-await-in-loop -- one batch after the other on each connection
        if (database !== undefined) await insertBare(database, batch)
        rows += batchRows
      }
    }),
  )
  return { rows, perSecond: (rows * 1_000) / (nowMs() - startedAt) }
}

function aRow(): BareRow {
  made += 1
  const atMs = EPOCH_MS + made
  return {
    id: uuidv7(atMs),
    recordId: uuidv7(atMs),
    workspaceId: WORKSPACE,
    receivedAt: new Date(atMs).toISOString(),
    headers: HEADERS,
    body: bodies[made % bodies.length] ?? '',
    decision: DECISION,
  }
}

answer({ open, run } satisfies BareInsertsVerbs)
