import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childrenOf } from '../../chaos/children.ts'
import { startServer } from '../stage/command.ts'
import { eventually, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const serving = (parent: number) => childrenOf(parent).filter(({ title }) => title.endsWith('main.ts serve'))

test(
  'a process that is killed before it listens is replaced, and the server starts',
  { timeout: 300_000 },
  async () => {
    const starting = startServer(world, { PROCESSES: '2', LOG_LEVEL: 'silent' })
    const primary = await eventually('the primary process serves', () => Promise.resolve(serving(process.pid)[0]))
    const victim = await eventually('another process serves', () => Promise.resolve(serving(primary.pid)[0]))
    process.kill(victim.pid, 'SIGKILL')
    const server = await starting
    const answer = await fetch(server.endpoint, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(await server.stop(), 0)
    assert.equal(answer.status, 201)
  },
)

test('a server ends on request while it replaces a process', { timeout: 300_000 }, async () => {
  const server = await startServer(world, { PROCESSES: '2', LOG_LEVEL: 'silent' })
  const [first, second] = serving(server.pid)
  assert.ok(first !== undefined && second !== undefined)
  process.kill(first.pid, 'SIGKILL')
  await eventually('the killed process is replaced', () =>
    Promise.resolve(serving(server.pid).find(({ pid }) => pid !== first.pid && pid !== second.pid)),
  )
  assert.equal(await server.stop(), 0)
})

test('a process that freezes and dies loses no request: the processes that share its port answer', async () => {
  const server = await startServer(world, { PROCESSES: '2' })
  const [still] = serving(server.pid)
  assert.ok(still !== undefined)
  process.kill(still.pid, 'SIGSTOP')
  // A sender gives up at some time, and so does a test.
  const signal = AbortSignal.timeout(60_000)
  const answers = await Promise.allSettled(
    Array.from({ length: 8 }, () =>
      fetch(server.endpoint, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, signal }),
    ),
  )
  process.kill(still.pid, 'SIGKILL')
  assert.equal(await server.stop(), 0)
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.status : String(answer.reason))),
    Array.from({ length: 8 }, () => 201),
  )
})
