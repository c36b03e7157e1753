import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aName } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Transforms in the configuration of a project: by name, with their code. */

let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const CODE = 'export function transform(event: { data: unknown }) {\n  return { body: event.data }\n}\n'
const config = (transforms: readonly object[], transform: string | null) => ({
  version: 1,
  transforms,
  destinations: [{ name: 'Shop', url: 'https://example.com/shop', ...(transform === null ? {} : { transform }) }],
})

async function aProject(): Promise<string> {
  const { project } = (await world.admin('POST', 'projects', { name: aName('project') })).body
  return `projects/${project.id}/`
}
async function apply(at: string, body: object): Promise<Answer> {
  return world.admin('POST', `${at}config/apply`, body)
}

test('a configuration creates, changes and deletes transforms, and its export is the same configuration', async () => {
  const at = await aProject()
  const one = { name: 'To text', language: 'ts', code: CODE }
  assert.equal((await apply(at, { config: config([one], 'To text') })).status, 200)
  const exported = (await world.admin('GET', `${at}config/export`)).body
  assert.deepEqual(exported.transforms, [one])
  assert.equal(exported.destinations[0].transform, 'To text')
  const { plan } = (await world.admin('POST', `${at}config/plan`, { config: exported })).body
  assert.equal(plan.empty, true)

  const changed = { name: 'To text', code: 'const transform = () => null' }
  const answer = await apply(at, { config: config([changed], 'To text') })
  assert.deepEqual(answer.body.applied.change, [{ kind: 'transform', identity: 'To text' }])
  const { transforms } = (await world.admin('GET', `${at}transforms`)).body
  assert.deepEqual([transforms[0].version, transforms[0].language], [2, 'js'])

  const removed = await apply(at, { config: config([], null), delete_missing: true })
  assert.deepEqual(removed.body.applied.delete, [{ kind: 'transform', identity: 'To text' }])
  assert.deepEqual((await world.admin('GET', `${at}transforms`)).body.transforms, [])
})

test('a destination names a transform that exists after the plan', async () => {
  const at = await aProject()
  const missing = await apply(at, { config: config([], 'None') })
  assert.equal(missing.status, 400)
  assert.match(missing.body.error, /config\.destinations\[0\]\.transform: the project would have no transform "None"/)
  await apply(at, { config: config([{ name: 'Used', code: CODE, language: 'ts' }], 'Used') })
  const used = await apply(at, { config: { version: 1, transforms: [] }, delete_missing: true })
  assert.match(used.body.error, /the destination "Shop": the project would have no transform "Used"/)
})

test('code that cannot run is refused with the name of its entry and its line', async () => {
  const at = await aProject()
  const answer = await apply(at, {
    config: config([{ name: 'Bad', code: 'function transform() {\n  return (\n}' }], null),
  })
  assert.equal(answer.status, 400)
  assert.match(answer.body.error, /Bad.*SyntaxError.*line 3/)
})
