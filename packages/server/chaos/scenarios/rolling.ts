import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS } from '../checks.ts'
import type { Receiver } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { counted, loadFigures, timing } from '../figures.ts'
import { sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

const PROCESSES = 3
const PATIENCE_MS = 60_000
const LOOK_MS = 50
const ENDS_WITHIN_MS = 20_000
/** Some time with all processes, so that each has requests under way. */
const CALM_MS = 500

/** Slow enough that deliveries are under way whenever a process is asked to end. */
const receivers = (rng: Rng): readonly Receiver[] =>
  ['receiver-1', 'receiver-2', 'receiver-3'].map((name) => ({
    name,
    datasets: null,
    maxInFlight: 20,
    scheme: 'standard',
    timeoutMs: PATIENCE_MS,
    conduct: () => ({ status: 200, afterMs: rng.int(100, 300) }),
  }))

/** Each process in turn is asked to end and is replaced, as in an upgrade: no request fails, and nothing arrives twice. */
export const rolling = defineScenario({
  name: 'rolling',
  about: 'SIGTERM of one process after the other under load: no request fails, and nothing arrives twice',
  processes: PROCESSES,
  rounds: 20,
  ratePerSecond: 100,
  play,
})

/** From the signal to the end of the process, in ms; undefined: it had to be killed. */
type Ending = { readonly pid: number; readonly tookMs: number | undefined }

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const endings: Ending[] = []
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: receivers(new Rng(request.seed + 1)),
    percent: { events: 100 },
    storm: () => restartAll(stage, request, endings),
  })
  return judge(evidence, { endings, stopped })
}

/** A round is one process. The next one waits until the successor listens, as an operator would in an upgrade. */
async function restartAll(stage: Stage, { rounds, signal, say }: Request, endings: Ending[]): Promise<string | null> {
  const turn: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one process after the other
    if (!(await until(() => allListen(stage), signal))) return 'A process that ended was not replaced'
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(CALM_MS, undefined, { signal })
    const living = stage.server.workers()
    const pid = turn.find((one) => living.includes(one)) ?? living[0] ?? 0
    say(`round ${round} of ${rounds}: SIGTERM to process ${pid}`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    endings.push(await end(stage, pid, signal))
    turn.splice(0, turn.length, ...living.filter((one) => one !== pid))
  }
  // Waits until the last successor has done some work.
  await until(() => allListen(stage), signal)
  await sleep(CALM_MS, undefined, { signal })
  return null
}

async function end({ server }: Stage, pid: number, signal: AbortSignal): Promise<Ending> {
  const began = performance.now()
  server.endWorker(pid)
  const hasEnded = await until(() => !server.workers().includes(pid), signal)
  return { pid, tookMs: hasEnded ? performance.now() - began : undefined }
}

function allListen({ server, logFile }: Stage): boolean {
  const workers = server.workers()
  const started = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"server.started"'))
  return (
    workers.length === PROCESSES &&
    workers.every((pid) => started.some((line) => new RegExp(`"pid":${pid}\\b`).test(line)))
  )
}

async function until(isSo: () => boolean, signal: AbortSignal): Promise<boolean> {
  const patience = performance.now() + PATIENCE_MS
  while (!isSo()) {
    if (performance.now() > patience) return false
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await sleep(LOOK_MS, undefined, { signal })
  }
  return true
}

function judge(
  evidence: Evidence,
  { endings, stopped }: { endings: readonly Ending[]; stopped: string | null },
): Outcome {
  const facts = factsOf(evidence)
  const failed = evidence.answers.filter(({ status }) => status !== 201)
  // An attempt whose start was answered too late is given up before its request: nothing was cut off at a receiver.
  const seen = new Set(evidence.receipts.map(({ attempt }) => attempt))
  const cutOff = evidence.attempts.filter(({ id, outcome }) => outcome === 'interrupted' && seen.has(id))
  const findings = [
    ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
    promise(
      'failed requests',
      failed.map((answer) => JSON.stringify(answer)),
    ),
    promise(
      'deliveries cut off',
      cutOff.map(({ id }) => id),
    ),
    promise(
      'processes that did not end',
      endings.filter(({ tookMs }) => tookMs === undefined).map(({ pid }) => String(pid)),
    ),
  ]
  const figures = [
    ...loadFigures(evidence),
    counted('processes restarted', endings.length),
    timing(
      'SIGTERM to exit',
      endings.flatMap(({ tookMs }) => tookMs ?? []),
      ENDS_WITHIN_MS,
    ),
  ]
  return { findings, figures, stopped }
}
