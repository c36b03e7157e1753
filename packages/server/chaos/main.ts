import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { isPlant, PLANTS } from './plants.ts'
import { reportText } from './report.ts'
import type { Request, Scenario } from './scenario.ts'
import { dup } from './scenarios/dup.ts'
import { fair } from './scenarios/fair.ts'
import { herd } from './scenarios/herd.ts'
import { idem } from './scenarios/idem.ts'
import { kill9 } from './scenarios/kill9.ts'
import { kinds } from './scenarios/kinds.ts'
import { neighbor, neighborByName } from './scenarios/neighbor.ts'
import { pgrestart } from './scenarios/pgrestart.ts'
import { quota } from './scenarios/quota.ts'
import { redeliver } from './scenarios/redeliver.ts'
import { register } from './scenarios/register.ts'
import { rejections } from './scenarios/rejections.ts'
import { rolling } from './scenarios/rolling.ts'
import { rotate } from './scenarios/rotate.ts'
import { sources } from './scenarios/sources.ts'
import { stream } from './scenarios/stream.ts'
import { suspend } from './scenarios/suspend.ts'
import { takeover } from './scenarios/takeover.ts'
import { workflow } from './scenarios/workflow.ts'

/**
 * `npm run chaos -- kill9 --rounds 30`: exit code 0 when no promise broke, 1 when one broke, 2 for a wrong command line or a
 * run that proves nothing.
 */
const SCENARIOS: readonly Scenario[] = [
  kill9,
  pgrestart,
  stream,
  idem,
  quota,
  rejections,
  rotate,
  dup,
  rolling,
  takeover,
  neighbor,
  neighborByName,
  herd,
  redeliver,
  suspend,
  workflow,
  sources,
  register,
  kinds,
  fair,
]

const USAGE = [
  'npm run chaos -- SCENARIO [--rounds N] [--seed N] [--rate N] [--with-postgres third|always|never] [--json] [--keep]',
  '',
  ...SCENARIOS.map(({ name, about }) => `  ${name.padEnd(15)} ${about}`),
  '',
  `CHAOS_PLANT=${Object.keys(PLANTS).join('|')} plants that defect in the server. The run must then fail.`,
].join('\n')

const ROUND_BUDGET_MS = 60_000
const SPARE_BUDGET_MS = 300_000

type Given = { readonly scenario: Scenario; readonly request: Omit<Request, 'signal'>; readonly json: boolean }

function readRequest(): Given {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      seed: { type: 'string', default: String(randomInt(1_000_000)) },
      rate: { type: 'string' },
      dns: { type: 'boolean', default: false },
      'with-postgres': { type: 'string', default: 'third' },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  const scenario = findScenario(positionals[0], values.dns)
  const postgres = (['third', 'always', 'never'] as const).find((name) => name === values['with-postgres'])
  const [rounds, seed, ratePerSecond] = [
    Number(values.rounds ?? scenario.rounds),
    Number(values.seed),
    Number(values.rate ?? scenario.ratePerSecond),
  ]
  const plant = process.env['CHAOS_PLANT']
  const numbersAreRight = [rounds, seed, ratePerSecond].every(Number.isSafeInteger) && rounds > 0 && ratePerSecond > 0
  if (postgres === undefined || !numbersAreRight) throw new Error(USAGE)
  if (plant !== undefined && !isPlant(plant)) throw new Error(USAGE)
  const say = values.json ? () => undefined : (line: string) => process.stderr.write(`  ${line}\n`)
  return {
    scenario,
    json: values.json,
    request: { seed, rounds, ratePerSecond, postgres, plant, isShort: false, keep: values.keep, say },
  }
}

function findScenario(word: string | undefined, isByName: boolean): Scenario {
  // The previous name of the scenario, for scripts that use it.
  const named = word === 'neighbour' ? 'neighbor' : word
  const found = SCENARIOS.find(({ name }) => name === `${named}${isByName ? ' --dns' : ''}`)
  if (found === undefined) throw new Error(USAGE)
  return found
}

const SAME_WISH_MS = 1_000

/**
 * Ctrl-C first cleans up the stage; a later one ends the run immediately. The terminal sends Ctrl-C to every process,
 * and npm passes it on again, so a signal within a second of the first is the same one.
 */
function interruption(): AbortSignal {
  const asked = new AbortController()
  let firstAt: number | undefined
  const ask = (signal: NodeJS.Signals): void => {
    const now = performance.now()
    firstAt ??= now
    if (now - firstAt > SAME_WISH_MS) process.exit(130)
    asked.abort(new Error(`interrupted by ${signal}`))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask)
  return asked.signal
}

async function main(): Promise<void> {
  if (process.argv.length === 2 || process.argv.includes('--help')) return void process.stdout.write(`${USAGE}\n`)
  try {
    const { scenario, request, json } = readRequest()
    const budget = AbortSignal.timeout(SPARE_BUDGET_MS + request.rounds * ROUND_BUDGET_MS)
    const report = await scenario.run({ ...request, signal: AbortSignal.any([interruption(), budget]) })
    process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : reportText(report))
    process.exitCode = report.ok ? 0 : 1
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
}

await main()
