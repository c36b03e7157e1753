import { setTimeout as sleep } from 'node:timers/promises'
import { postgresMib, residentMib } from '../processes.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeDestination, makeEndpoint } from '../postroad.ts'
import { median, nowMs } from '../statistics.ts'
import type { BareHttpVerbs } from '../bare-http.ts'
import type { LoadVerbs } from '../load.ts'
import type { SinkVerbs } from '../sink.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const IDLE_MS = 2_000
const SAMPLE_MS = 200

/** The duration of a start and the memory of the server, idle and under load, beside a bare process. */
export async function footprint(stage: Stage): Promise<readonly Figure[]> {
  const fresh: number[] = []
  const existing: number[] = []
  const bareStarts: number[] = []
  let folder = ''
  for (let round = 0; round < stage.rounds; round += 1) {
    folder = await stage.folder()
    for (const starts of [fresh, existing]) {
      const server = await stage.server({ folder })
      starts.push(server.startMs)
      await server.stop()
    }
    bareStarts.push(await bareStart(stage))
  }
  const memory = await memoryOf(stage, folder)
  return [
    { what: 'Start on a fresh folder', unit: 'ms', ours: median(fresh), beside: bare(median(bareStarts)) },
    { what: 'Start on an existing folder', unit: 'ms', ours: median(existing), beside: bare(median(bareStarts)) },
    { what: 'Memory of the server, idle', unit: 'MiB', ours: memory.idle, beside: bare(memory.bareIdle) },
    { what: 'Memory of the server, loaded', unit: 'MiB', ours: memory.loaded, beside: bare(memory.bareLoaded) },
    { what: 'Memory of PostgreSQL, idle', unit: 'MiB', ours: memory.postgresIdle, beside: undefined },
    { what: 'Memory of PostgreSQL, loaded', unit: 'MiB', ours: memory.postgresLoaded, beside: undefined },
  ]
}

const bare = (value: number) => ({ name: 'bare `node:http`', value })

async function bareStart(stage: Stage): Promise<number> {
  const startedAt = nowMs()
  const child = stage.child<BareHttpVerbs>('bare-http.ts')
  await child.ask('listen', null)
  const tookMs = nowMs() - startedAt
  await child.stop()
  return tookMs
}

async function memoryOf(stage: Stage, folder: string) {
  const server = await stage.server({ folder })
  const bareHttp = stage.child<BareHttpVerbs>('bare-http.ts')
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const [barePort, sinkPort] = [await bareHttp.ask('listen', null), await sink.ask('listen', null)]
  await sleep(IDLE_MS)
  const bareIdle = await residentMib(bareHttp.pid)
  const [idle, postgresIdle] = [await residentMib(server.pid), await postgresMib(folder)]

  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  await makeDestination(admin, { name: 'bench', port: sinkPort, maxInFlight: 100 })
  const until = { ms: stage.seconds * 1_000 }
  const peak = await peakOf(
    load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until }),
    async () => [await residentMib(server.pid), await postgresMib(folder)],
  )
  const barePeak = await peakOf(
    load.ask('closed', { port: barePort, path: '/', secret: SECRET, connections: 64, until }),
    async () => [await residentMib(bareHttp.pid)],
  )
  await Promise.all([load.stop(), sink.stop(), bareHttp.stop()])
  await server.stop()
  return {
    idle,
    postgresIdle,
    bareIdle,
    loaded: peak[0] ?? NaN,
    postgresLoaded: peak[1] ?? NaN,
    bareLoaded: barePeak[0] ?? NaN,
  }
}

/** The greatest value of each measure while the work runs. */
async function peakOf(work: Promise<unknown>, measure: () => Promise<number[]>): Promise<number[]> {
  const ended = work.then(() => true)
  let peak: number[] = []
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    const now = await measure()
    peak = now.map((value, index) => Math.max(value, peak[index] ?? 0))
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (await Promise.race([ended, sleep(SAMPLE_MS, false)])) return peak
  }
}
