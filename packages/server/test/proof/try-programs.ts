import assert from 'node:assert/strict'
import { Program, SANDBOX_LIMITS, type ProgramInput } from '../../src/platform/sandbox/sandbox.ts'
import { aProgram, drawOf } from './random-programs.ts'

const LIMITS = { ...SANDBOX_LIMITS, ticks: 20, memoryBytes: 8 * 1024 * 1024 }
const INPUT: ProgramInput = {
  event:
    '{"id":"evt_1","dataset":"a","received_at":"2026-01-01T00:00:00.000Z","headers":{},"data":{"a":[1,{"b":null}]}}',
  form: 'envelope',
  nowMs: 0,
  seed: 1,
}

/** The parts of the host that a program could have changed. */
const host = (): string =>
  JSON.stringify(
    [
      globalThis,
      Object.prototype,
      Array.prototype,
      Function.prototype,
      String.prototype,
      Promise.prototype,
      JSON,
      Math,
    ].map((of) => Reflect.ownKeys(of).map(String).toSorted()),
  )

const canary = Program.compile({
  code: 'let n = 0; function transform(event) { return { body: [++n, Object.keys(globalThis), ({}).leak, [].leak] } }',
  language: 'js',
})

/**
 * Runs random programs, each twice. No exception leaves the sandbox, no budget is exceeded, both runs are the same, and neither the host nor
 * another program notices. Returns how many ran to their end.
 */
export function tryPrograms({ first, count }: { readonly first: number; readonly count: number }): number {
  assert.ok(canary instanceof Program)
  const before = host()
  const expected = canary.run(INPUT)
  let ended = 0
  for (let seed = first; seed < first + count; seed += 1) {
    const code = aProgram(drawOf(seed))
    const program = Program.compile({ code, language: 'js' }, LIMITS)
    if (!(program instanceof Program)) continue
    const [one, again] = [program.run(INPUT), program.run(INPUT)]
    assert.deepEqual(again, one, `seed ${seed}: two runs differ\n${code}`)
    // A report after the budget has ended takes further steps.
    assert.ok(one.ticks <= LIMITS.ticks + 60, `seed ${seed}: ${one.ticks} ticks\n${code}`)
    if (one.ok) ended += 1
    if (seed % 50 !== 0) continue
    assert.equal(host(), before, `up to seed ${seed}`)
    assert.deepEqual(canary.run(INPUT), expected, `up to seed ${seed}`)
  }
  return ended
}
