import { join } from 'node:path'
import type { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import { createDestinations, type Receiver } from './destinations.ts'
import { drain } from './drain.ts'
import { gather, type DestinationFact, type Evidence } from './evidence.ts'
import { Ledger } from './ledger.ts'
import { startLoad, type Load, type Shares } from './load.ts'
import type { Blow } from './nemesis.ts'
import type { Request } from './scenario.ts'
import { openSink, type Sink } from './sink.ts'
import type { Stage } from './stage.ts'
import { weather } from './storm.ts'

/** The whole road of events: senders, the server, and receivers behind it. */
export type Road = {
  readonly sink: Sink
  readonly blows: Ledger<Blow>
  readonly load: Load
  readonly destinations: readonly DestinationFact[]
}

export type Traffic = {
  readonly receivers: readonly Receiver[]
  readonly percent: Shares
  /** Defaults to the rate of the request. */
  readonly ratePerSecond?: () => number
  /** Runs before the first event. */
  readonly prepare?: (destinations: readonly DestinationFact[]) => Promise<void>
  /** The events under load. Returns the reason why it ended early, or null. */
  readonly storm: (road: Road) => Promise<string | null>
  /** Repairs the effects of the storm, once the server is ready again. */
  readonly heal?: (road: Road) => Promise<void>
  /** How long it may take until everything is delivered. Defaults to 2 min. */
  readonly drainMs?: number
}

/** In the short form a machine may be so busy that only the end of the test is the limit. */
const PATIENCE = { full: { hungMs: 15_000, drainMs: 120_000 }, short: { hungMs: 120_000, drainMs: 400_000 } }

/** Sends events down the road through a storm, waits until all are delivered, and collects the observations of all parties. */
export async function sendThrough(
  stage: Stage,
  request: Request,
  traffic: Traffic,
): Promise<{ readonly evidence: Evidence; readonly stopped: string | null }> {
  const { seed, signal, say } = request
  const patience = request.isShort ? PATIENCE.short : PATIENCE.full
  const { ratePerSecond = request.ratePerSecond, drainMs = patience.drainMs } = traffic
  const sink = await openSink(stage.folder)
  const blows = new Ledger<Blow>(join(stage.folder, 'blows.jsonl'))
  try {
    const destinations = await createDestinations({ stage, sink }, traffic.receivers)
    await traffic.prepare?.(destinations)
    const urlOf = (dataset: string): string => `${stage.endpoint}/${dataset}`
    const load = startLoad({
      folder: stage.folder,
      seed,
      ratePerSecond,
      urlOf,
      percent: traffic.percent,
      hungMs: patience.hungMs,
    })
    const road = { sink, blows, load, destinations }
    const stopped = await weather(load, () => traffic.storm(road))
    await stage.ready()
    await traffic.heal?.(road)
    say('healed; waiting until everything is delivered')
    const drained = await drain(stage, { patienceMs: drainMs, signal })
    return { evidence: await gather({ stage, load, sink, destinations, blows: blows.entries, drained }), stopped }
  } finally {
    blows.close()
    await sink.stop()
  }
}

/** SIGKILL of one of the processes that share the port; or of a single server, which is then restarted. Returns the time. */
export async function killSender(
  stage: Stage,
  { rng, blows }: { readonly rng: Rng; readonly blows: Ledger<Blow> },
): Promise<number> {
  const at = systemClock().now()
  if (stage.server.killWorker(rng)) blows.note({ target: 'worker', at })
  else {
    blows.note({ target: 'server', at })
    await stage.server.kill()
    stage.server.start()
  }
  return at
}
