import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { HOLD_CAUSES, holdText, wordOf } from '@postroad/contract'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { prepareStates, type Prepared } from '../stage/held-states.ts'
import { runPiped } from '../../../cli/test/command-line.ts'

/** Every state of a delivery at a destination of every light, as the command line shows it. */

let world: World
let all: readonly Prepared[]

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' }, now: Date.now() })
  const database = behind(world)
  all = await prepareStates(world, database)
  await database.close()
})
after(() => world.stop())

const printed = async (...args: readonly string[]): Promise<string> => {
  const env = { POSTROAD_URL: world.baseUrl, SERVICE_TOKEN: world.installed.api_key }
  const { code, stdout, stderr } = await runPiped(args, env)
  assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  return stdout
}
const lineOf = (text: string, id: string): string =>
  text.split('\n').find((line) => line.includes(id)) ?? assert.fail(`${id} is not in ${text}`)

/** The rows without the widths of their columns. */
const rowsOf = (text: string): readonly string[] => text.split('\n').map((row) => row.replaceAll(/ {2,}/g, ' '))

test('the list shows the light of each delivery, and the filter by a cause finds the deliveries that it holds back', async () => {
  for (const of of all) {
    const text = await printed('deliveries', 'list', '--destination', of.lane.name, '--limit', '50')
    for (const { id, case: one, cause } of of.deliveries) {
      const word = cause === null || one.state === 'paused' ? wordOf(one.state) : 'held'
      assert.match(lineOf(text, id), new RegExp(`^\\S ${word} `), of.lane.name)
    }
    for (const asked of ['any', ...HOLD_CAUSES]) {
      const ids = await printed('deliveries', 'list', '--destination', of.lane.name, '--held-by', asked, '--quiet')
      const expected = of.deliveries.filter(({ cause }) => (asked === 'any' ? cause !== null : cause === asked))
      assert.deepEqual(
        ids.split('\n').filter(Boolean).toSorted(),
        expected.map(({ id }) => id).toSorted(),
        `${of.lane.name} ${asked}`,
      )
    }
  }
})

test('the details of a delivery show why it is held back, and show no cause when it is not', async () => {
  for (const of of all) {
    for (const { id, case: one, cause } of of.deliveries) {
      const text = await printed('deliveries', 'get', id)
      const about = `${of.lane.name}: ${JSON.stringify(one)}`
      if (cause === null) assert.doesNotMatch(text, /\nHeld by /, about)
      else assert.ok(rowsOf(text).includes(`Held by ${holdText({ cause })}`), `${about}\n${text}`)
      assert.equal(/\nNext attempt /.test(text), cause === null && one.due !== undefined, about)
      assert.equal(/\nNext probe /.test(text), cause === 'breaker_open', about)
    }
  }
})

test('the list and the health of destinations show the light of each one, and how many deliveries it holds back', async () => {
  const text = await printed('destinations', 'list', '--limit', '50')
  for (const of of all) {
    assert.match(lineOf(text, of.destinationId), new RegExp(`^\\S ${of.lane.light} `))
    const held = of.deliveries.filter(({ cause }) => cause !== null)
    const health = await printed('destinations', 'health', of.lane.name)
    assert.match(health, new RegExp(`^Destination +${of.destinationId} {2}\\S ${of.lane.light}\n`))
    if (held.length === 0 || of.lane.cause === null) assert.doesNotMatch(health, /\nHeld back /)
    else assert.ok(rowsOf(health).includes(`Held back ${held.length} ${holdText({ cause: of.lane.cause })}`), health)
  }
})
