import { parseArgs } from 'node:util'
import { runSeed } from './world.ts'
import { PLANTS, type Plant } from './plants.ts'
import type { Mode } from './world.ts'

const HOUR_MS = 3_600_000
const USAGE = 'sim [--seeds N] [--from S] [--mode safety|liveness|both] [--plant NAME] | sim --seed N --trace'

interface Request {
  readonly from: number
  readonly seeds: number
  readonly mode: Mode | 'both'
  readonly plant: Plant | undefined
  readonly trace: boolean
}

function readRequest(): Request {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '2000' },
      from: { type: 'string', default: '0' },
      seed: { type: 'string' },
      mode: { type: 'string', default: 'both' },
      plant: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  })
  const plant = PLANTS.find((name) => name === values.plant)
  const mode = (['safety', 'liveness', 'both'] as const).find((name) => name === values.mode)
  const from = Number(values.seed ?? values.from)
  const seeds = values.seed === undefined ? Number(values.seeds) : 1
  const known = mode !== undefined && (values.plant === undefined || plant !== undefined)
  if (!known || !Number.isSafeInteger(from) || !Number.isSafeInteger(seeds) || seeds < 1) throw new Error(USAGE)
  return { from, seeds, mode, plant, trace: values.trace }
}

function modeOf(seed: number, mode: Request['mode']): Mode {
  if (mode !== 'both') return mode
  return seed % 2 === 0 ? 'liveness' : 'safety'
}

function run(request: Request): number {
  const { from, seeds, plant } = request
  const totals: Record<string, number> = {}
  const started = performance.now()
  let simulatedMs = 0
  for (let seed = from; seed < from + seeds; seed += 1) {
    const mode = modeOf(seed, request.mode)
    const trace = request.trace ? { trace: (line: string) => console.log(line) } : {}
    const report = runSeed({ seed, mode, plant, ...trace })
    simulatedMs += report.simulatedMs
    for (const [what, times] of Object.entries(report.counts)) totals[what] = (totals[what] ?? 0) + times
    if (report.violation === null) continue
    const planted = plant === undefined ? '' : ` --plant ${plant}`
    console.log(`seed ${seed} (${mode}): ${report.violation}`)
    console.log(`after ${seed - from + 1} seeds, ${Math.round(performance.now() - started)} ms`)
    console.log(`replay: npm run sim -- --seed ${seed} --mode ${mode}${planted} --trace`)
    return 1
  }
  const seconds = (performance.now() - started) / 1_000
  const hours = simulatedMs / HOUR_MS
  console.log(`${seeds} seeds clean in ${seconds.toFixed(1)} s: ${Math.round(seeds / seconds)} seeds/s`)
  console.log(`${Math.round(hours)} simulated hours, ${Math.round(hours / seconds)} per second`)
  for (const what of Object.keys(totals).toSorted()) console.log(`  ${what.padEnd(20)} ${totals[what]}`)
  return 0
}

try {
  process.exitCode = run(readRequest())
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
