import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'
import { aScene, type Made } from '../stage/scene.ts'
import { OPERATOR } from '../stage/settings.ts'
import { foundText, releaseMonkey } from './monkey.ts'
import { growthOf, watchTail, type Sample } from './tail.ts'

/** Short forms of `npm run soak`. */

const SEED = 20_261_124

let stage: Stage
let made: Made | undefined

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage({ env: { OPERATORS: OPERATOR } })
  made = await aScene(stage)
})
after(async () => {
  await stage?.stop()
  await made?.stop()
})

test(
  'random clicks, words and keys of an operator, an owner and a viewer break no screen and cause no 5xx',
  { skip: noBrowser },
  async () => {
    assert.ok(made !== undefined)
    const walked = await releaseMonkey(
      { stage, scene: made.scene },
      { seed: SEED, until: { walks: 3 }, say: () => undefined },
    )
    assert.deepEqual(
      walked.found.map((found) => foundText(SEED, found)),
      [],
    )
    assert.ok(walked.steps > 60, `${walked.steps} steps`)
  },
)

test('the monkey reports an error of the page with its seed and its steps', { skip: noBrowser }, async () => {
  assert.ok(made !== undefined)
  const planted: Stage = Object.assign(Object.create(stage) as Stage, {
    owner: async () => {
      const seen = await stage.owner()
      await seen.page.addInitScript("addEventListener('keydown', () => { throw new Error('planted') })")
      return seen
    },
  })
  const { found } = await releaseMonkey(
    { stage: planted, scene: made.scene },
    { seed: SEED, until: { walks: 1 }, say: () => undefined },
  )
  const [first] = found
  assert.ok(first !== undefined)
  assert.match(
    foundText(SEED, first),
    /planted\n {2}npm run soak -- monkey --seed 20261124 --walk 0 {3}\(as operator\)\n {3}1\. open /,
  )
})

test('the live tail shows every event that is sent, and the run measures memory', { skip: noBrowser }, async () => {
  const { samples, faults } = await watchTail(stage, { minutes: 0.1, perSecond: 20, say: () => undefined })
  assert.deepEqual(faults, [])
  const [sample] = samples
  assert.ok(sample !== undefined && sample.heapMib > 1 && sample.nodes > 100, JSON.stringify(samples))
})

const sampleOf = (sent: number, heapMib: number): Sample => ({ seconds: 0, sent, heapMib, nodes: 9, listeners: 9 })

test('growth is more memory in the last third than in the second one, after the buffer of the tail is full', () => {
  const flat = [1, 9, 9, 9, 9, 9, 9].map((heap, index) => sampleOf(index * 6_000, heap))
  assert.deepEqual(growthOf(flat), [])
  assert.deepEqual(growthOf(flat.map(({ sent, heapMib }, index) => sampleOf(sent, heapMib + index))), [
    'heapMib grew from 13.0 to 15.0',
  ])
})
