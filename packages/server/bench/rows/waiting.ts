import { idleCost, idleFigures, type IdleCost } from '../idle-cost.ts'
import type { LoadVerbs } from '../load.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint } from '../postroad.ts'
import { countRows, countUnindexed, settle, withDatabase } from '../queries.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'
import { until } from '../until.ts'

const WAITING = 100_000
/** A block of the search index. Fewer events than that wait for the next ones. */
const BLOCK_RECORDS = 4_096
const WARM_MS = 15_000
const PATIENCE = { lookMs: 1_000, patienceMs: 900_000 }

/** The cost of a server in which a hundred thousand workflow instances wait for an event, beside one in which none does. */
export async function waiting(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  let server = await stage.server({ folder })
  const path = await makeEndpoint(await adminOf(server, folder), 'bench', SECRET)
  const load = stage.child<LoadVerbs>('load.ts')
  const fill = (): Promise<unknown> =>
    load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until: { count: WAITING } })
  const measure = async (): Promise<IdleCost> => {
    await withDatabase(server.target, settle)
    await server.stop()
    server = await stage.server({ folder })
    await withDatabase(server.target, (db) =>
      until('the search index has all events', async () => (await countUnindexed(db)) < BLOCK_RECORDS, PATIENCE),
    )
    return idleCost({ folder, server, warmMs: WARM_MS, ms: stage.seconds * 5_000 })
  }
  // As many events are stored in both, so the instances are the only difference.
  await fill()
  const none = await measure()
  const admin = await adminOf(server, folder)
  await admin('POST', 'workflows', {
    name: 'Waits',
    entry_dataset: 'bench',
    steps: [
      {
        id: 'reply',
        type: 'wait_for_event',
        dataset: 'replies',
        conditions: [{ path: 'id', equals: '{{ payload.id }}' }],
        timeout_seconds: 86_400,
      },
    ],
  })
  await fill()
  await withDatabase(server.target, (db) =>
    until('all instances wait', async () => (await countRows(db, 'workflow_step_runs')) >= WAITING, PATIENCE),
  )
  const many = await measure()
  await load.stop()
  await server.stop()
  return idleFigures(`${WAITING.toLocaleString('en-US')} waiting instances`, { ours: many, beside: none, name: 'none' })
}
