import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { playInJobs } from './jobs.ts'
import { PLANTS, type Plant } from './plants.ts'
import { play, type Block, type Played } from './play.ts'
import { WORKFLOW_PLANTS, type WorkflowPlant } from './workflow/plants.ts'

const HOUR_MS = 3_600_000
/** With fewer seeds, a second core is not worth its start. */
const MANY_SEEDS = 10_000
const USAGE =
  'sim [--world delivery|slots|workflow] [--seeds N] [--from S] [--mode safety|liveness|both] [--plant NAME] [--jobs N] | sim --seed N --trace'

interface Request extends Block {
  readonly trace: boolean
  readonly jobs: number
}

function readRequest(): Request {
  const { values } = parseArgs({
    options: {
      world: { type: 'string', default: 'delivery' },
      seeds: { type: 'string', default: '2000' },
      from: { type: 'string', default: '0' },
      seed: { type: 'string' },
      mode: { type: 'string', default: 'both' },
      plant: { type: 'string' },
      jobs: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  })
  const { trace } = values
  const world = oneOf(['delivery', 'slots', 'workflow'] as const, values.world)
  const plants: readonly (Plant | WorkflowPlant)[] = world === 'workflow' ? WORKFLOW_PLANTS : PLANTS
  const plant = values.plant === undefined ? undefined : oneOf(plants, values.plant)
  const mode = oneOf(['safety', 'liveness', 'both'] as const, values.mode)
  const from = Number(values.seed ?? values.from)
  const seeds = counted(values.seed === undefined ? values.seeds : '1')
  const jobs = counted(values.jobs ?? (trace || seeds < MANY_SEEDS ? '1' : String(availableParallelism())))
  if (!Number.isSafeInteger(from) || (trace && jobs > 1)) throw new Error(USAGE)
  return { from, seeds, mode, world, plant, trace, jobs }
}

function oneOf<Name extends string>(names: readonly Name[], given: string): Name {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new Error(USAGE)
  return found
}

function counted(given: string): number {
  const number = Number(given)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(USAGE)
  return number
}

async function run(request: Request): Promise<number> {
  const { seeds, plant, trace, jobs } = request
  const started = performance.now()
  const { from, mode, world } = request
  const block = { from, seeds, mode, world, plant }
  const played = jobs > 1 ? await playInJobs(block, jobs) : play(block, trace ? (line) => console.log(line) : undefined)
  const seconds = (performance.now() - started) / 1_000
  return played.broken === null
    ? printClean(played, { seconds, jobs })
    : printBroken(played.broken, { ...request, played, seconds })
}

function printBroken(
  { seed, mode, violation }: NonNullable<Played['broken']>,
  { world, plant, played, seconds }: Request & { played: Played; seconds: number },
): number {
  const planted = plant === undefined ? '' : ` --plant ${plant}`
  console.log(`seed ${seed} (${mode}): ${violation}`)
  console.log(`after ${played.seeds} seeds, ${Math.round(seconds * 1_000)} ms`)
  const inWorld = world === 'delivery' ? '' : ` --world ${world}`
  console.log(`replay: npm run sim --${inWorld} --seed ${seed} --mode ${mode}${planted} --trace`)
  return 1
}

function printClean(
  { seeds, simulatedMs, totals }: Played,
  { seconds, jobs }: { seconds: number; jobs: number },
): number {
  const hours = simulatedMs / HOUR_MS
  const cpu = process.cpuUsage()
  const busySeconds = (cpu.user + cpu.system) / 1_000_000
  const beside = jobs === 1 ? '' : ` on ${jobs} cores`
  console.log(
    `${seeds} seeds clean in ${seconds.toFixed(1)} s${beside}: ${Math.round(seeds / seconds)} seeds/s, ${Math.round(seeds / busySeconds)} per second of processor time`,
  )
  console.log(`${Math.round(hours)} simulated hours, ${Math.round(hours / seconds)} per second`)
  for (const what of Object.keys(totals).toSorted()) console.log(`  ${what.padEnd(20)} ${totals[what]}`)
  return 0
}

try {
  if (process.argv.includes('--help')) console.log(USAGE)
  else process.exitCode = await run(readRequest())
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
