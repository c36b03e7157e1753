import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import { challengeFor, PROXIED } from '../stage/agent-registrations.ts'
import { post } from '../stage/fixtures.ts'
import { atGate, tableGate } from '../stage/gates.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const nothing = (): void => undefined
const QUIET = { debug: nothing, info: nothing, warn: nothing }
/** The names of lines of the log that a person must act on. */
const errors: string[] = []
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: PROXIED, log: { ...QUIET, error: (event) => void errors.push(event) }, loops: [] },
)

const TOO_MANY = 3

test('a flood of agents uses one connection to the database; ingest goes on, a full queue answers 503 without an error in the log, and the others are served', async () => {
  const asking: Promise<Answer>[] = []
  const refused: Answer[] = []
  await atGate(database, tableGate('throttles'), async (gate) => {
    const enough = Promise.withResolvers<void>()
    for (let n = 0; n < 1 + LIMITS.agentRegistrationsWaitingMax + TOO_MANY; n += 1) {
      const asked = challengeFor(world, { ip: `100.64.${Math.floor(n / 250)}.${1 + (n % 250)}` })
      asking.push(asked)
      void asked.then((answer) => {
        if (answer.status === 503 && refused.push(answer) === TOO_MANY) enough.resolve()
      })
    }
    await enough.promise
    await gate.waiting()
    assert.equal(await gate.count(), 1)
    assert.equal((await post(world.endpoint, '{}')).status, 201)
  })
  const statuses = (await Promise.all(asking)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 1 + LIMITS.agentRegistrationsWaitingMax)
  assert.equal(refused.length, TOO_MANY)
  for (const { body } of refused)
    assert.deepEqual([body.reason, body.retry_after], ['agent_registration_unavailable', 1])
  assert.deepEqual(errors, [])
})
