import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { post, Wire, type RawAnswer } from '../stage/fixtures.ts'
import { atGate, tableGate } from '../stage/gates.ts'
import { eventually, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Overload: 503 with Retry-After, and a request that got 503 is never stored afterwards. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

const SENDERS = 20
const EACH = 600

async function allAnswersOf(wire: Wire): Promise<readonly RawAnswer[]> {
  const answers: RawAnswer[] = []
  for (let answer = await wire.answer(); answer !== undefined && answers.push(answer) < EACH;)
    answer = await wire.answer()
  return answers
}

async function overloadedSoFar(): Promise<number> {
  const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
  return Number(/reason="overloaded",status="503"} (\d+)/.exec(text)?.[1] ?? 0)
}

async function storedSoFar(): Promise<number> {
  const { stored } = await database.one<{ stored: number }>({
    strings: ['select count(*) as stored from submissions'],
    values: [],
  })
  return stored
}

test('events beyond the queue limit get 503 overloaded; exactly the events with 201 are stored', async () => {
  const { pathname } = new URL(world.endpoint)
  const wires = Array.from({ length: SENDERS }, () => new Wire(world.baseUrl))
  try {
    // While the database can store nothing, events wait until the queue is full.
    await atGate(database, tableGate('submissions'), async () => {
      await Promise.all(
        wires.map((wire) =>
          wire.sent(`POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`.repeat(EACH)),
        ),
      )
      // The answer to an earlier request of each connection comes first, so no client sees the refusal yet.
      await eventually('the queue is full', async () => ((await overloadedSoFar()) > 0 ? true : undefined))
    })
    const answers = (await Promise.all(wires.map(allAnswersOf))).flat()
    const refused = answers.filter(({ status }) => status === 503)
    assert.ok(refused.some(({ body }) => JSON.parse(body).reason === 'overloaded'))
    assert.ok(refused.every(({ head, body }) => /^retry-after: 1$/im.test(head) && JSON.parse(body).retry_after === 1))
    assert.equal(refused.length + answers.filter(({ status }) => status === 201).length, SENDERS * EACH)
    assert.equal(await storedSoFar(), SENDERS * EACH - refused.length)
    assert.equal((await post(world.endpoint, '{}')).status, 201)
    assert.equal(await storedSoFar(), SENDERS * EACH - refused.length + 1)
  } finally {
    for (const wire of wires) wire.destroy()
  }
})
