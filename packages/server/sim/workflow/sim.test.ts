import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WORKFLOW_PLANTS, type WorkflowPlant } from './plants.ts'
import { runWorkflowSeed } from './world.ts'

/** Only a few worlds. `npm run test:push` plays hundreds, from the seed of the commit. */
const SEEDS = 40

const EXPECTED: Readonly<Record<WorkflowPlant, RegExp>> = {
  'no-fence': /stored its event 2 times|under fence|while/,
  'lost-wake': /timed out although .* came in time/,
  'no-look-back': /timed out although .* came in time/,
  'late-record': /timed out although .* came in time/,
  'no-matcher-lock': /timed out although .* came in time/,
  'double-emit': /stored its event 2 times/,
  'orphaned-pending': /never ended|does not come to rest/,
  'timeout-in-pause': /ms before its time/,
}

test(`no promise of workflows is broken in the first ${SEEDS} worlds`, () => {
  for (let seed = 0; seed < SEEDS; seed += 1)
    assert.equal(runWorkflowSeed({ seed }).violation, null, `sim --world workflow --seed ${seed} --trace`)
})

for (const plant of WORKFLOW_PLANTS) {
  test(`planted: ${plant} is found`, () => {
    assert.match(firstViolation(plant) ?? '', EXPECTED[plant])
  })
}

test('the same seed plays the same world of workflows, to the last line of its trace', () => {
  for (const seed of [1, 2, 3]) {
    const [first, second] = [traceOf(seed), traceOf(seed)]
    assert.ok(first.length > 100)
    assert.deepEqual(second, first)
  }
})

function firstViolation(plant: WorkflowPlant): string | undefined {
  for (let seed = 0; seed < 200; seed += 1) {
    const { violation } = runWorkflowSeed({ seed, plant })
    if (violation !== null) return violation
  }
  return undefined
}

function traceOf(seed: number): string[] {
  const lines: string[] = []
  runWorkflowSeed({ seed, trace: (line) => lines.push(line) })
  return lines
}
