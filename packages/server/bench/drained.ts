import { postgresSeconds, processorSeconds, residentMib } from './processes.ts'
import type { Child } from './child.ts'
import type { SinkVerbs } from './sink.ts'

const WARM_SHARE = 0.1
const PATIENCE_MS = 120_000

/** One drained backlog: its rate, the processor time per delivery on each side in µs, and the sender's memory after it. */
export type Drained = {
  readonly perSecond: number
  readonly processUs: number
  readonly postgresUs: number
  readonly mib: number
}

/** Starts the sender and measures from the end of the warm-up (a tenth of the backlog, or `warmShare`) to the last delivery. */
export async function drained(
  at: { sink: Child<SinkVerbs>; folder: string; total: number; warmShare?: number },
  start: () => Promise<{ readonly pid: number }>,
): Promise<Drained> {
  const { sink, folder, total, warmShare = WARM_SHARE } = at
  await sink.ask('reset', null)
  const { pid } = await start()
  const look = async (count: number) => ({
    at: await sink.ask('reached', { count, patienceMs: PATIENCE_MS }),
    process: await processorSeconds([pid]),
    postgres: await postgresSeconds(folder),
  })
  const before = await look(total * warmShare)
  const after = await look(total)
  const counted = total * (1 - warmShare)
  const each = (seconds: number): number => (seconds * 1e6) / counted
  const perSecond = (counted * 1_000) / (after.at - before.at)
  return {
    perSecond,
    processUs: each(after.process - before.process),
    postgresUs: each(after.postgres - before.postgres),
    mib: await residentMib(pid),
  }
}
