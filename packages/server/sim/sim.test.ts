import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstViolation, MODES } from './seeds.ts'
import { runSeed, type Mode } from './world.ts'

/** Only a few worlds. `npm run test:push` plays hundreds, from the seed of the commit. */
const SEEDS = 20

function traceOf(seed: number, mode: Mode): string[] {
  const lines: string[] = []
  runSeed({ seed, mode, trace: (line) => lines.push(line) })
  return lines
}

for (const mode of MODES) {
  test(`${mode}: no rule is broken in the first ${SEEDS} worlds`, () => {
    for (let seed = 0; seed < SEEDS; seed += 1)
      assert.equal(runSeed({ seed, mode }).violation, null, `sim --seed ${seed} --mode ${mode} --trace`)
  })
}

test('planted: without recovery the deliveries of a dead worker stay where they are', () => {
  assert.match(
    firstViolation('no-reclaim', 20) ?? '',
    /still open|open longer|never reached an end|does not come to rest/,
  )
})

test('planted: an acknowledgment before the commit is found', () => {
  assert.match(firstViolation('ack-before-commit', 20) ?? '', /acknowledged and is not stored/)
})

test('planted: a request that leaves before the commit of its delivery is found', () => {
  assert.match(firstViolation('start-before-commit', 20) ?? '', /was not stored|without a committed attempt/)
})

for (const mode of MODES) {
  test(`${mode}: with few slots, no rule is broken in the first ${SEEDS} worlds`, () => {
    for (let seed = 0; seed < SEEDS; seed += 1)
      assert.equal(
        runSeed({ seed, mode, isOfSlots: true }).violation,
        null,
        `sim --world slots --seed ${seed} --mode ${mode} --trace`,
      )
  })
}

test('planted: a share that does not shrink while others take slots is found', () => {
  assert.match(firstViolation('no-ramp', 20, { isOfSlots: true }) ?? '', /took slot \d+ of p\d and left/)
})

test('planted: without a reserve a workspace takes the last slot although it has others', () => {
  assert.match(
    firstViolation('no-reserve', 20, { isOfSlots: true }) ?? '',
    /from the reserve|took slot \d+ of p\d and left/,
  )
})

test('the same seed plays the same world, to the last line of its trace', () => {
  for (const mode of MODES) {
    for (const seed of [1, 2, 3]) {
      const trace = traceOf(seed, mode)
      assert.ok(trace.length > 100)
      assert.deepEqual(traceOf(seed, mode), trace)
    }
  }
})
