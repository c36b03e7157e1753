import { setTimeout as sleep } from 'node:timers/promises'
import { SECRET } from '../payload.ts'
import { adminOf, makeDestination, makeEndpoint } from '../postroad.ts'
import { postgresMib, residentMib } from '../processes.ts'
import { clearDeliveries, fillBacklog, settle, withDatabase } from '../queries.ts'
import { nowMs } from '../statistics.ts'
import type { LoadVerbs } from '../load.ts'
import type { SinkVerbs } from '../sink.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const CONCURRENCY = 100
const RECORDS = 1_000
const LARGE = 1_000_000
const BATCH = 50_000
const SMALL_PER_SECOND = 25_000
const WARM = 2_000
const PATIENCE_MS = 60_000
const LOOK_MS = 250

type Window = { readonly perSecond: number; readonly mib: number; readonly postgresMib: number }

/** How fast a backlog of a million drains within a window, and how much memory that takes, beside a small backlog. */
export async function backlog(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const port = await sink.ask('listen', null)
  let server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  await load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until: { count: RECORDS } })
  await makeDestination(admin, { name: 'bench', port, maxInFlight: CONCURRENCY })

  /** The backlog is filled beside a server that does not deliver, and drained by a server that finds it at its start. */
  const drain = async (total: number, windowMs: number): Promise<Window> => {
    await server.stop()
    server = await stage.server({ folder, roles: 'web,work' })
    await withDatabase(server.target, async (db) => {
      await clearDeliveries(db)
      // oxlint-disable-next-line no-await-in-loop -- batch after batch
      for (let filled = 0; filled < total; filled += BATCH)
        await fillBacklog(db, { from: filled, count: Math.min(BATCH, total - filled) })
      await settle(db)
    })
    await server.stop()
    await sink.ask('reset', null)
    server = await stage.server({ folder })
    await sink.ask('reached', { count: WARM, patienceMs: PATIENCE_MS })
    return watched({
      pid: server.pid,
      folder,
      windowMs,
      count: () => sink.ask('came', null),
      most: total - CONCURRENCY,
    })
  }
  const windowMs = stage.seconds * 5_000
  const small = await drain(stage.seconds * SMALL_PER_SECOND, windowMs)
  stage.say('filling a backlog of a million …')
  const large = await drain(LARGE, windowMs)
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()
  const figure = (what: string, unit: string, of: keyof Window): Figure => ({
    what,
    unit,
    ours: large[of],
    beside: { name: `${(stage.seconds * SMALL_PER_SECOND).toLocaleString('en-US')} wait`, value: small[of] },
  })
  return [
    { ...figure('Drain of a backlog of 1,000,000', '/s', 'perSecond'), aim: { leastRatio: 0.8 } },
    { ...figure('its peak memory, server', 'MiB', 'mib'), aim: { mostRatio: 1.2 } },
    figure('its peak memory, PostgreSQL', 'MiB', 'postgresMib'),
  ]
}

type Watch = {
  readonly pid: number
  readonly folder: string
  readonly windowMs: number
  readonly count: () => Promise<number>
  readonly most: number
}

/** The rate until the window or the backlog ends, and the highest memory use meanwhile. */
async function watched({ pid, folder, windowMs, count, most }: Watch): Promise<Window> {
  const began = { at: nowMs(), count: await count() }
  let [mib, shared] = [0, 0]
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await sleep(LOOK_MS)
    // oxlint-disable-next-line no-await-in-loop -- as above
    ;[mib, shared] = [Math.max(mib, await residentMib(pid)), Math.max(shared, await postgresMib(folder))]
    // oxlint-disable-next-line no-await-in-loop -- as above
    const now = { count: await count(), at: nowMs() }
    const isOver = now.at - began.at >= windowMs || now.count >= most
    if (isOver)
      return { perSecond: ((now.count - began.count) * 1_000) / (now.at - began.at), mib, postgresMib: shared }
  }
}
