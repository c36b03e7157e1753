import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRASH_POINTS } from '../src/pipeline/deliver/crash-points.ts'
import { MODES } from './seeds.ts'
import { runSeed } from './world.ts'

for (const mode of MODES) {
  test(`${mode}: no rule is broken in two hundred worlds, and each kind of fault happens in them`, () => {
    const counts: Record<string, number> = {}
    for (let seed = 0; seed < 200; seed += 1) {
      const report = runSeed({ seed, mode })
      assert.equal(report.violation, null, `sim --seed ${seed} --mode ${mode} --trace`)
      for (const [what, times] of Object.entries(report.counts)) counts[what] = (counts[what] ?? 0) + times
    }
    const faults = [
      'crashes',
      'pauses',
      'stops',
      'refused',
      'unknown',
      'slow',
      'hidden',
      'spites',
      'swizzles',
      'rotations',
      'offers',
    ]
    const acts = [
      'suspensions',
      'late moves',
      'disablings',
      'replays',
      'bulk replays',
      'allowances',
      'releases',
      'manual retries',
      'manual probes',
      'cancels',
      'duplicates',
      'requests',
      'first attempts',
    ]
    for (const what of [...faults, ...acts]) assert.ok((counts[what] ?? 0) > 10, `${what}: ${counts[what]}`)
  })
}

for (const mode of MODES) {
  test(`${mode}: with few slots, no rule is broken in two hundred worlds, and workspaces flood them`, () => {
    let floods = 0
    for (let seed = 0; seed < 200; seed += 1) {
      const { counts, violation } = runSeed({ seed, mode, isOfSlots: true })
      assert.equal(violation, null, `sim --world slots --seed ${seed} --mode ${mode} --trace`)
      floods += counts['floods'] ?? 0
    }
    assert.ok(floods > 200)
  })
}

test('in a calm world other workers take over within lease and sweep after a crash, and the drill takes place', () => {
  let drills = 0
  for (let seed = 0; seed < 20; seed += 1) drills += runSeed({ seed, mode: 'liveness' }).counts['drills'] ?? 0
  assert.ok(drills > 5)
})

test('a process has died at each crash point that the product names', () => {
  const missing = new Set<string>(CRASH_POINTS)
  // Handovers are rare: the first death at one is in world 5,000.
  for (let seed = 4_500; seed < 6_500 && missing.size > 0; seed += 1) {
    const { counts, violation } = runSeed({ seed, mode: 'safety' })
    assert.equal(violation, null)
    for (const point of missing) if (counts[`died: ${point}`] !== undefined) missing.delete(point)
  }
  assert.deepEqual([...missing], [])
})
