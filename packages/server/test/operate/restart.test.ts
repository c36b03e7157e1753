import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { aWorld } from '../stage/harness.ts'

type Seen = { readonly status: number | undefined; readonly connection: string | undefined; readonly isReused: boolean }

/** Sends one event on a connection of the agent, reused or new. */
function send(url: string, agent: Agent): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume()
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            connection: response.headers.connection,
            isReused: outgoing.reusedSocket,
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end('{"n":1}')
  })
}

/** Longer than any test waits: the stop ends because the connections have closed. */
const PATIENCE_MS = 3_600_000

test('a stopping server accepts the next event of an open connection, announces with it that the connection closes, and ends once it is closed', async (t) => {
  const world = await aWorld({ loops: [] })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  assert.deepEqual(await send(world.endpoint, agent), { status: 201, connection: 'keep-alive', isReused: false })
  const stopped = world.app.stop(PATIENCE_MS)
  assert.deepEqual(await send(world.endpoint, agent), { status: 201, connection: 'close', isReused: true })
  await stopped
  await assert.rejects(send(world.endpoint, agent), { code: 'ECONNREFUSED' })
  await world.storage.stop()
})
