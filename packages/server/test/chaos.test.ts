import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Report } from '../chaos/figures.ts'
import type { PlantName } from '../chaos/plants.ts'
import type { Scenario } from '../chaos/scenario.ts'
import { dup } from '../chaos/scenarios/dup.ts'
import { herd } from '../chaos/scenarios/herd.ts'
import { idem } from '../chaos/scenarios/idem.ts'
import { kill9 } from '../chaos/scenarios/kill9.ts'
import { neighbour, neighbourByName } from '../chaos/scenarios/neighbour.ts'
import { quota } from '../chaos/scenarios/quota.ts'
import { redeliver } from '../chaos/scenarios/redeliver.ts'
import { rejections } from '../chaos/scenarios/rejections.ts'
import { rotate } from '../chaos/scenarios/rotate.ts'
import { stream } from '../chaos/scenarios/stream.ts'
import { suspend } from '../chaos/scenarios/suspend.ts'

type Storm = { readonly rounds: number; readonly seed: number; readonly plant?: PlantName; readonly ratePerSecond?: number }

/** The short form of `npm run chaos`, on servers and data folders of its own. */
function aStorm(scenario: Scenario, of: Storm): Promise<Report> {
  const signal = AbortSignal.timeout(480_000)
  const { rounds, seed, plant, ratePerSecond = 150 } = of
  return scenario.run({ seed, rounds, ratePerSecond, postgres: 'third', plant, isShort: true, keep: false, signal, say: () => undefined })
}

/** Three quick rounds: two kill the server, the last one a backend of PostgreSQL, then the server, and again as it starts. */
const SEED = 196

/** Promises only: how long things take is the machine's, and it may be busy. */
function broken({ findings, stopped }: Pick<Report, 'findings' | 'stopped'>): readonly string[] {
  const checks = findings.filter((finding) => !finding.ok).map(({ check, found, examples }) => `${check}: ${found}, such as ${examples[0]}`)
  return stopped === null ? checks : [stopped, ...checks]
}

const TRIES_MAX = 3

/** What a storm meets is partly chance: a defect is caught when one of three storms, each longer than the last, shows it. */
async function assertCaught(scenario: Scenario, of: Storm & { readonly plant: PlantName }, as: RegExp): Promise<void> { // oxlint-disable-line max-params -- who is caught, with what, and as what
  const found: string[] = []
  for (let more = 0; more < TRIES_MAX; more += 1) {
    // oxlint-disable-next-line no-await-in-loop -- another storm only when the last one showed nothing
    const report = await aStorm(scenario, { ...of, seed: of.seed + more, rounds: of.rounds + more })
    found.push(...broken(report))
    if (!report.ok && found.some((line) => as.test(line))) return
  }
  assert.fail(`${of.plant} was not caught in ${TRIES_MAX} storms; they found: ${found.join('; ') || 'nothing'}`)
}

describe('a server that is killed under load', { concurrency: true }, () => {
  test('keeps every promise of a 201', async () => {
    assert.deepEqual(broken(await aStorm(kill9, { rounds: 3, seed: SEED })), [])
  })

  test('is caught when it acknowledges before the commit', async () => {
    await assertCaught(kill9, { rounds: 1, seed: SEED, plant: 'ack-before-commit' }, /^acknowledged, not stored: \d+/)
  })
})

describe('a server that is killed under repeats with equal idempotency keys', { concurrency: true }, () => {
  test('makes one submission of one key', async () => {
    assert.deepEqual(broken(await aStorm(idem, { rounds: 2, seed: SEED })), [])
  })

  test('is caught when it remembers keys outside the commit', async () => {
    await assertCaught(idem, { rounds: 1, seed: SEED, plant: 'keys-in-memory' }, /^one key, several submissions: \d+/)
  })
})

describe('a server that is killed at the edge of a quota', { concurrency: true }, () => {
  test('accepts exactly as many events as had room', async () => {
    assert.deepEqual(broken(await aStorm(quota, { rounds: 2, seed: SEED })), [])
  })

  test('is caught when it counts outside the commit', async () => {
    await assertCaught(quota, { rounds: 1, seed: SEED, plant: 'count-apart' }, /^counted wrongly: \d+/)
  })
})

describe('a flood of forgeries', { concurrency: true }, () => {
  test('is counted in a bounded number of rows, never above what was sent, and refuses nobody else', async () => {
    assert.deepEqual(broken(await aStorm(rejections, { rounds: 1, seed: SEED })), [])
  })

  test('is caught when it has a row for each address', async () => {
    await assertCaught(rejections, { rounds: 1, seed: SEED, plant: 'row-per-address' }, /^more rows than minutes: \d+/)
  })
})

describe('processes that die while they deliver', { concurrency: true }, () => {
  test('repeat no more than they had in flight, and nothing before the first death', async () => {
    assert.deepEqual(broken(await aStorm(dup, { rounds: 1, seed: SEED })), [])
  })

  test('are caught when those that live lose what they hold', async () => {
    await assertCaught(dup, { rounds: 1, seed: SEED, plant: 'no-fence' }, /^duplicates \(at most blows × in flight\): \d+/)
  })
})

describe('clients of the live stream that drop and resume', { concurrency: true }, () => {
  test('each see every record of a server that is killed', async () => {
    assert.deepEqual(broken(await aStorm(stream, { rounds: 1, seed: SEED })), [])
  })
})

const CALM = { rounds: 1, seed: SEED, ratePerSecond: 40 }

describe('a destination that hangs, and one that is dead', { concurrency: 2 }, () => {
  test('cost their neighbours nothing: these get all of theirs meanwhile', async () => {
    assert.deepEqual(broken(await aStorm(neighbour, CALM)), [])
  })

  test('cost their neighbours nothing when it is their names that hang or do not exist', async () => {
    assert.deepEqual(broken(await aStorm(neighbourByName, CALM)), [])
  })

  test('are caught when all destinations share a few places', async () => {
    await assertCaught(neighbour, { ...CALM, plant: 'one-queue' }, /^not delivered to a neighbour before the bad ones were put right: \d+/)
  })

  test('are caught when few names are looked up at a time', async () => {
    await assertCaught(neighbourByName, { ...CALM, plant: 'few-look-ups' }, /^not delivered to a neighbour before the bad ones were put right: \d+/)
  })
})

describe('destinations that come back to a backlog', { concurrency: 2 }, () => {
  test('get it by a ramp, and never more than their caps and rates allow', async () => {
    assert.deepEqual(broken(await aStorm(herd, CALM)), [])
  })

  test('are seen to be flooded when their caps are forgotten', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-caps' }, /^more at once than a destination allows: \d+/)
  })

  test('are seen to be flooded when their breakers are forgotten', async () => {
    await assertCaught(herd, { ...CALM, plant: 'no-ramp' }, /^more at once than the ramp allows: \d+/)
  })
})

describe('a replay of many deliveries beside live traffic', { concurrency: 2 }, () => {
  test('sends each of those chosen once, and nothing while it is paused or after it was cancelled', async () => {
    assert.deepEqual(broken(await aStorm(redeliver, CALM)), [])
  })

  test('is caught when it forgets the place that it has come to', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'no-place' }, /^sent twice by a replay: \d+/)
  })

  test('is caught when it does not heed a pause', async () => {
    await assertCaught(redeliver, { ...CALM, plant: 'deaf-replay' }, /^made due while paused: \d+/)
  })
})

describe('a workspace that is suspended under load', { concurrency: 2 }, () => {
  test('takes nothing in, sends nothing and counts nothing meanwhile, and loses nothing', async () => {
    assert.deepEqual(broken(await aStorm(suspend, CALM)), [])
  })

  test('is caught when its suspension is forgotten', async () => {
    await assertCaught(suspend, { ...CALM, plant: 'suspend-in-name' }, /^begun while suspended: \d+/)
  })
})

test('URLs, secrets and the key that seals them, replaced again and again on a server that is killed: what works was promised to, and every sealed value opens', async () => {
  const { findings, stopped } = await aStorm(rotate, { rounds: 1, seed: SEED })
  // How soon the other processes hear that something has ended is a matter of time.
  assert.deepEqual(broken({ findings: findings.filter(({ check }) => check !== 'accepted after its end'), stopped }), [])
})
