import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { childrenOf } from '../chaos/children.ts'
import { startServer } from './command.ts'
import { aWorld, type World } from './harness.ts'

let world: World

before(async () => {
  world = await aWorld()
})
after(() => world.stop())

test('a process that stands still and dies takes no request with it: those that share its port answer them', async () => {
  const server = await startServer(world, { PROCESSES: '2' })
  const [still] = childrenOf(server.pid).filter(({ title }) => title.endsWith('main.ts serve'))
  assert.ok(still !== undefined)
  process.kill(still.pid, 'SIGSTOP')
  // A sender gives up some time, and so does a test.
  const signal = AbortSignal.timeout(60_000)
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => fetch(server.endpoint, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, signal })))
  process.kill(still.pid, 'SIGKILL')
  assert.equal(await server.stop(), 0)
  assert.deepEqual(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.status : String(answer.reason))), Array.from({ length: 8 }, () => 201))
})
