import assert from 'node:assert/strict'
import { test } from 'node:test'
import { post } from '../stage/fixtures.ts'
import { sse } from '../stage/stream-client.ts'
import { call, world } from '../stage/admin-asking.ts'
import { MARK, neighbor, onHouses, stranger, victim, type House } from '../stage/houses.ts'
import { randomId } from '../stage/mounted.ts'

/** No stream shows any data of another tenant. */
onHouses()

test('the live stream of a foreign project gets 404 too', async () => {
  for (const project of [victim.project, randomId('project'), 'nonsense']) {
    const answer = await call({ headers: stranger.owner }, `GET projects/${project}/stream`)
    assert.deepEqual([answer.status, answer.body.reason], [404, 'not_found'])
  }
})

const keyOf = async ({ project, owner }: House): Promise<string> =>
  (await call({ headers: owner }, `POST projects/${project}/ingest-keys`, { body: { name: world.app.deps.uuid() } }))
    .body.key
const file = (key: string, mark: string) => post(`${world.baseUrl}/v1/ingest/${key}/streamed`, JSON.stringify(mark))

test("a cursor of the live stream of another tenant leads through the caller's own data", async () => {
  const key = await keyOf(victim)
  const watched = await sse(`${world.baseUrl}/v1/stream?key=${key}`)
  const start = String(watched.headers['stream-cursor'])
  // The commits are at the same moment, so that there is a cursor in the middle of a read.
  await Promise.all([file(key, MARK), file(key, MARK)])
  await watched.until(2)
  watched.close()
  for (const house of [neighbor, stranger]) {
    const own = await keyOf(house)
    await file(own, 'one')
    for (const cursor of [start, ...watched.events.map(({ id }) => id ?? '')]) {
      for (const [path, headers] of [
        [`v1/stream?key=${own}&`, {}],
        [`admin/api/projects/${house.project}/stream?`, house.owner],
      ] as const) {
        const client = await sse(`${world.baseUrl}/${path}after=${cursor}&dataset=streamed`, {
          headers: { ...headers },
        })
        await client.until(1)
        client.close()
        assert.deepEqual(
          [client.events.map(({ type, data }) => [type, data.data]), client.text().includes(MARK)],
          [[['record', 'one']], false],
        )
      }
    }
  }
})
