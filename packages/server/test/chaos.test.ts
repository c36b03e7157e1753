import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Report } from '../chaos/figures.ts'
import type { PlantName } from '../chaos/plants.ts'
import { kill9 } from '../chaos/scenarios/kill9.ts'

/** The short form of `npm run chaos -- kill9`, on servers and data folders of its own. */
function aStorm(rounds: number, plant?: PlantName): Promise<Report> {
  const signal = AbortSignal.timeout(240_000)
  return kill9.run({ seed: SEED, rounds, ratePerSecond: 150, postgres: 'third', plant, keep: false, signal, say: () => undefined })
}

/** Three quick rounds: two kill the server, the last one a backend of PostgreSQL, then the server, and again as it starts. */
const SEED = 196

/** Promises only: how long things take is the machine's, and it may be busy. */
function broken({ findings, stopped }: Report): readonly string[] {
  const checks = findings.filter((finding) => !finding.ok).map(({ check, found, examples }) => `${check}: ${found}, such as ${examples[0]}`)
  return stopped === null ? checks : [stopped, ...checks]
}

describe('a server that is killed under load', { concurrency: true }, () => {
  test('keeps every promise of a 201', async () => {
    const report = await aStorm(3)
    assert.deepEqual(broken(report), [])
  })

  test('is caught when it acknowledges before the commit', async () => {
    const report = await aStorm(1, 'ack-before-commit')
    assert.equal(report.ok, false)
    assert.match(broken(report).join('\n'), /^acknowledged, not stored: \d+/m)
  })
})
