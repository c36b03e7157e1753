import { readFileSync } from 'node:fs'
import { Rng } from '../../sim/rng.ts'
import { calm, judgeRestarts, slowReceivers, until, type Restart } from '../restarts.ts'
import { sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

const PROCESSES = 3

/** Each process in turn is asked to end and is replaced, as in an upgrade: no request fails, and nothing arrives twice. */
export const rolling = defineScenario({
  name: 'rolling',
  about: 'SIGTERM of one process after the other under load: no request fails, and nothing arrives twice',
  processes: PROCESSES,
  rounds: 20,
  ratePerSecond: 100,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const restarts: Restart[] = []
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: slowReceivers(new Rng(request.seed + 1)),
    percent: { events: 100 },
    storm: () => restartAll(stage, request, restarts),
  })
  return judgeRestarts(evidence, { restarts, stopped })
}

/** A round is one process. The next one waits until the successor listens, as an operator would in an upgrade. */
async function restartAll(stage: Stage, { rounds, signal, say }: Request, restarts: Restart[]): Promise<string | null> {
  const turn: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one process after the other
    if (!(await until(() => allListen(stage), signal))) return 'A process that ended was not replaced'
    // oxlint-disable-next-line no-await-in-loop -- as above
    await calm(signal)
    const living = stage.server.workers()
    const pid = turn.find((one) => living.includes(one)) ?? living[0] ?? 0
    say(`round ${round} of ${rounds}: SIGTERM to process ${pid}`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    restarts.push(await end(stage, pid, signal))
    turn.splice(0, turn.length, ...living.filter((one) => one !== pid))
  }
  // Waits until the last successor has done some work.
  await until(() => allListen(stage), signal)
  await calm(signal)
  return null
}

async function end({ server }: Stage, pid: number, signal: AbortSignal): Promise<Restart> {
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
