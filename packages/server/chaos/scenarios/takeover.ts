import { readFileSync } from 'node:fs'
import { Rng } from '../../sim/rng.ts'
import { calm, judgeRestarts, slowReceivers, until, type Restart } from '../restarts.ts'
import { sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

/** One process takes the port over from another again and again, as in an upgrade of one machine: no request fails. */
export const takeover = defineScenario({
  name: 'takeover',
  about: 'SIGHUP under load: the installed program takes the port over, no request fails, and nothing arrives twice',
  rounds: 10,
  ratePerSecond: 100,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const restarts: Restart[] = []
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: slowReceivers(new Rng(request.seed + 1)),
    percent: { events: 100 },
    storm: () => takeOverAgain(stage, request, restarts),
  })
  return judgeRestarts(evidence, { restarts, stopped })
}

async function takeOverAgain(
  stage: Stage,
  { rounds, signal, say }: Request,
  restarts: Restart[],
): Promise<string | null> {
  let serving = servingPid(stage)
  for (let round = 1; round <= rounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await calm(signal)
    say(`round ${round} of ${rounds}: SIGHUP, process ${serving} serves`)
    const [before, began] = [serving, performance.now()]
    stage.server.hangUp()
    // The process that was started first lives on, but serves no more.
    const isDone = (): boolean => servingPid(stage) !== before && stage.server.workers().length === 1
    // oxlint-disable-next-line no-await-in-loop -- as above
    const hasEnded = await until(isDone, signal)
    restarts.push({ pid: before, tookMs: hasEnded ? performance.now() - began : undefined })
    if (!hasEnded) return 'No process took over'
    serving = servingPid(stage)
  }
  await calm(signal)
  return null
}

/** The process that began to serve last. */
function servingPid({ logFile }: Stage): number {
  const started = [...readFileSync(logFile, 'utf8').matchAll(/^\{.*"pid":(\d+).*"event":"server\.started"\}$/gm)]
  return Number(started.at(-1)?.[1])
}
