import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allFiles, eighthOfPush, filesOf, filesOfPush, LANES } from './lanes.ts'
import { lineOf, sumOf } from './test-counts.ts'
import { flakyTwice } from './test-flaky.ts'
import { runPart, simulate, type Ended, type Part } from './test-parts.ts'
import { repeated, type Total } from './test-repeat.ts'
import { commit, markGreen, touchedGroups } from './test-touched.ts'

/**
 * Runs tests; the last line is `N passed, N failed`. `lanes.ts` says what each file proves and when it runs.
 *
 * - `npm test` runs the normal lane.
 * - `npm run test:push` also runs a share of every other lane, and the simulator from the seed of the commit.
 * - `npm run test:night` runs everything three times, and ends with a table. `--rounds N` changes the number.
 * - `npm run test:unit` runs the tests beside their source. They need no database, no server and no browser.
 *
 * NAME… after `--` selects the files, of every lane, whose path contains one of them. A test that hangs fails.
 */
const given = process.argv.slice(2)
const names = given.filter((word, at) => !word.startsWith('--') && given[at - 1] !== '--rounds')
const mode = (['unit', 'push', 'night'] as const).find((name) => given.includes(`--${name}`)) ?? 'test'

const OURS = new Set([`--${mode}`, '--rounds'])
const flags = given.filter((word) => word.startsWith('--') && !OURS.has(word))

const PUSH_WORLDS = 400
const NIGHT_WORLDS = 5_000
const NIGHT_ROUNDS = 3

const folder = mkdtempSync(join(tmpdir(), 'postroad-test-run-'))
let runs = 0

type Env = Readonly<Record<string, string>>

function run(part: Part, env: Env = {}): Promise<Ended> {
  const own = join(folder, `${(runs += 1)}`)
  mkdirSync(own)
  return runPart(part, { folder: own, flags, env })
}

/** Runs parts one after the other, without those that have no files. */
async function inTurn(parts: readonly Part[], env: Env = {}): Promise<readonly Ended[]> {
  const ended: Ended[] = []
  for (const part of parts.filter(({ files }) => files.length > 0)) {
    if (parts.length > 1) console.log(`\n${part.name}: ${part.files.length} files`)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    ended.push(await run(part, env))
  }
  return ended
}

function totalOf(ended: readonly Ended[]): Total {
  return {
    code: ended.find(({ code }) => code !== 0)?.code ?? 0,
    counts: sumOf(ended.map(({ result }) => result)),
  }
}

/** The named files, or the normal lane. */
async function test(): Promise<Total> {
  const files = allFiles.filter((file) => names.some((name) => file.includes(name)))
  return totalOf(await inTurn([{ name: 'tests', files: names.length === 0 ? filesOf('normal') : files }]))
}

/** Two processes run all unit tests, one for each core: starting one for each file would take longer than the tests. */
async function unit(): Promise<Total> {
  const files = filesOf('normal').filter((file) => /^packages\/[^/]+\/src\//.test(file))
  const shards = ['1/2', '2/2'].map((shard) => ['--test-isolation=none', `--test-shard=${shard}`])
  return totalOf(await Promise.all(shards.map((own) => run({ name: 'unit', files, flags: own }))))
}

async function push(): Promise<Total> {
  const hash = commit()
  const seed = Number.parseInt(hash.slice(0, 6), 16)
  const { groups, why } = touchedGroups(seed)
  const eighth = eighthOfPush(seed)
  const env = { POSTROAD_TEST_SEED: `${seed}`, POSTROAD_TEST_EIGHTH: `${eighth}` }
  console.log(
    `Commit ${hash.slice(0, 12)}, seed ${seed}, eighth ${eighth} of the walks. In depth: ${[...groups].join(', ') || 'none'} (${why}).`,
  )
  const parts = LANES.map((lane) => ({ ...lane, files: filesOfPush(lane, { seed, groups }) }))
  // The slow files of other lanes start first, so that none of them is what the run waits for.
  const light = parts
    .filter(({ isHeavy }) => !isHeavy)
    .toReversed()
    .flatMap(({ files }) => files)
  const heavy = parts.filter(({ isHeavy }) => isHeavy).flatMap(({ files }) => files)
  for (const { name, files } of parts)
    if (name !== 'normal') for (const file of files) console.log(`  ${name}: ${file}`)
  const ended = [
    ...(await inTurn(
      [
        { name: 'tests', files: light },
        { name: 'storms and plants', files: heavy, isHeavy: true },
      ],
      env,
    )),
    await simulate('delivery', { first: seed, count: PUSH_WORLDS }),
    await simulate('workflow', { first: seed, count: PUSH_WORLDS }),
  ]
  const total = await repeated(ended, (part) => run(part, env))
  if (total.code === 0) markGreen()
  return total
}

async function night(): Promise<Total> {
  const rounds = given.includes('--rounds') ? Number(given[given.indexOf('--rounds') + 1]) : NIGHT_ROUNDS
  const day = Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''))
  const ended: Ended[] = []
  const totals: Total[] = []
  for (let round = 0; round < rounds; round += 1) {
    const seed = day * 10 + round
    console.log(`\nRound ${round + 1} of ${rounds}, seed ${seed}`)
    /* oxlint-disable no-await-in-loop -- one after the other */
    const ofRound = [
      ...(await inTurn(
        LANES.map((lane) => ({ ...lane, files: filesOf(lane.name) })),
        { POSTROAD_TEST_SEED: `${seed}` },
      )),
      await simulate('delivery', { first: seed, count: NIGHT_WORLDS }),
      await simulate('workflow', { first: seed, count: NIGHT_WORLDS }),
    ]
    ended.push(...ofRound)
    totals.push(await repeated(ofRound, (part) => run(part, { POSTROAD_TEST_SEED: `${seed}` })))
    /* oxlint-enable no-await-in-loop */
  }
  console.log(tableOf(ended))
  const races = flakyTwice()
  for (const file of races) console.log(`FLAKY TWICE   ${file} is in flaky.log more than once. Find its race.`)
  const counts = sumOf(totals.map((total) => total.counts))
  return {
    code: totals.find(({ code }) => code !== 0)?.code ?? Math.min(1, races.length),
    counts: { ...counts, failed: counts.failed + races.length },
  }
}

/** Tests, seconds and failures of each lane, over all rounds. */
function tableOf(ended: readonly Ended[]): string {
  const rows = [...Map.groupBy(ended, ({ name }) => name)].map(([name, of]) => {
    const { passed, failed } = sumOf(of.map(({ result }) => result))
    const seconds = of.reduce((total, one) => total + one.seconds, 0)
    return [name, `${passed + failed}`, seconds.toFixed(0), `${failed}`]
  })
  return `\n${[['lane', 'tests', 'seconds', 'failures'], ...rows].map(row).join('\n')}\n`
}

function row([name = '', ...figures]: readonly string[]): string {
  return `${name.padEnd(20)}${figures.map((figure) => figure.padStart(10)).join('')}`
}

const unknown = names.find((name) => !allFiles.some((file) => file.includes(name)))
if (unknown === undefined) {
  try {
    const { code, counts } = await { test, unit, push, night }[mode]()
    // A run of one part ends with the line of its reporter.
    if (mode !== 'test') console.log(`\n${lineOf(counts)}`)
    process.exitCode = code
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
} else {
  console.error(`No test file has ${unknown} in its path.`)
  process.exitCode = 2
}
