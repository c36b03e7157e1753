import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aDestination, post } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The lists of events by time. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

describe('from and to bound the lists of events', () => {
  test('from is inclusive and to is exclusive, for submissions, records and deliveries alike', async () => {
    const sink = await aSink()
    const own = await aWorld({ loops: [] })
    try {
      await aDestination(own, { url: sink.url })
      const at: string[] = []
      for (let hour = 0; hour < 3; hour += 1) {
        at.push(new Date(own.clock.now()).toISOString())
        assert.equal((await post(own.endpoint, '{}')).status, 201)
        own.clock.advance(3_600_000)
      }
      const [first = '', second = '', third = ''] = at
      for (const list of ['submissions', 'records', 'deliveries']) {
        const count = async (query: string): Promise<number> => {
          const answer = await own.admin('GET', `${list}?${query}`)
          assert.equal(answer.status, 200, JSON.stringify(answer.body))
          return answer.body[list].length
        }
        assert.equal(await count(''), 3)
        assert.equal(await count(`from=${second}`), 2, list)
        assert.equal(await count(`to=${second}`), 1, list)
        assert.equal(await count(`from=${first}&to=${third}`), 2, list)
        assert.equal(await count(`from=${third}&to=${first}`), 0, list)
        assert.equal(await count(`from=${encodeURIComponent(second.replace('Z', '+00:00'))}`), 2, list)
        for (const wrong of ['from=yesterday', 'to=2026-02-30T00:00:00Z', 'from=', 'to=1700000000']) {
          const { status, body } = await own.admin('GET', `${list}?${wrong}`)
          assert.deepEqual([status, body.reason], [400, 'invalid_request'], wrong)
          assert.match(body.error, /^(from|to) must /)
        }
      }
    } finally {
      await own.stop()
      await sink.stop()
    }
  })

  test('the OpenAPI document describes every filter of a list of events', async () => {
    const document: Answer['body'] = await (await fetch(`${world.baseUrl}/openapi.json`)).json()
    for (const list of ['submissions', 'records', 'deliveries']) {
      const { parameters } = document.paths[`/admin/api/${list}`].get
      const names = parameters.map(({ name }: { name: string }) => name)
      assert.ok(names.includes('from') && names.includes('to'), list)
      for (const { name, description } of parameters) assert.ok(description !== undefined, `${list} ${name}`)
    }
  })
})
