import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { foundText, releaseMonkey } from '../packages/console/test/soak/monkey.ts'
import { growthOf, watchTail } from '../packages/console/test/soak/tail.ts'
import { aStage, type Stage } from '../packages/console/test/stage/browser.ts'
import { aScene } from '../packages/console/test/stage/scene.ts'
import { OPERATOR } from '../packages/console/test/stage/settings.ts'
import { noChromium, startBrowser } from '../packages/console/test/stage/shared-browser.ts'
import { globalSetup, globalTeardown } from '../packages/server/test/stage/global-setup.ts'

/**
 * Runs for minutes on the real console in Chromium, with a separate PostgreSQL on free ports.
 *
 * - `npm run soak -- monkey --seed 7 --minutes 10` clicks, types and presses keys at random. It finds errors of the page, answers of 5xx,
 *   refusals of the content security policy and screens that break. `--walk N` runs one walk of that seed again.
 * - `npm run soak -- tail --minutes 30 --rate 50` reports the memory and the nodes of a page that shows the live tail.
 *
 * Exit code 0: no fault was found; 1: a fault was found; 2: a wrong command line.
 */
const USAGE = 'soak monkey [--seed N] [--minutes M] [--walk N] | soak tail [--minutes M] [--rate EVENTS_PER_SECOND]'

type Order = {
  readonly name: 'monkey' | 'tail'
  readonly minutes: number
  readonly rate: number
  readonly seed: number
  readonly walk: number | undefined
}

function readOrder(): Order {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '10' },
      rate: { type: 'string', default: '50' },
      seed: { type: 'string' },
      walk: { type: 'string' },
    },
  })
  const [minutes, rate] = [Number(values.minutes), Number(values.rate)]
  const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed)
  const walk = values.walk === undefined ? undefined : Number(values.walk)
  const [name] = positionals
  const areWhole = Number.isInteger(seed) && (walk === undefined || (Number.isInteger(walk) && walk >= 0))
  if ((name !== 'monkey' && name !== 'tail') || positionals.length > 1 || !(minutes > 0) || !(rate > 0) || !areWhole)
    throw new Error(USAGE)
  return { name, minutes, rate, seed, walk }
}

const RUNS = { monkey, tail } as const

async function monkey(stage: Stage, { seed, minutes, walk }: Order): Promise<readonly string[]> {
  const made = await aScene(stage)
  try {
    console.log(`seed ${seed}`)
    const walked = await releaseMonkey(
      { stage, scene: made.scene },
      { seed, until: { minutes }, walk, say: console.log },
    )
    console.log(`${walked.walks} walks, ${walked.steps} steps, seed ${seed}`)
    return walked.found.map((found) => foundText(seed, found))
  } finally {
    await made.stop()
  }
}

async function tail(stage: Stage, { minutes, rate }: Order): Promise<readonly string[]> {
  const { samples, faults } = await watchTail(stage, { minutes, perSecond: rate, say: console.log })
  return [...faults, ...growthOf(samples)]
}

let stopBrowser: () => Promise<void> = () => Promise.resolve()

async function stop(): Promise<void> {
  await stopBrowser()
  await globalTeardown()
}

async function run(order: Order): Promise<number> {
  if (noChromium !== false) {
    console.error(`No soak: ${noChromium}`)
    return 1
  }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => void stop().finally(() => process.exit(code)))
  try {
    await globalSetup()
    stopBrowser = await startBrowser()
    const stage = await aStage({ env: { OPERATORS: OPERATOR } })
    try {
      const found = await RUNS[order.name](stage, order)
      for (const line of found) console.error(`\nFOUND ${line}`)
      return found.length === 0 ? 0 : 1
    } finally {
      await stage.stop()
    }
  } finally {
    await stop()
  }
}

function orderOrEnd(): Order {
  try {
    return readOrder()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

process.exitCode = await run(orderOrEnd())
