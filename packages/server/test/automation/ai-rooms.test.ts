import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { asked, anAgentOf } from '../stage/ai-stage.ts'
import { aName } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The settings of AI providers and agents. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)

const KEY = 'sk-canary-of-a-model'
const aProvider = async (members: object): Promise<{ id: string; [member: string]: unknown }> =>
  (await asked(world, 'POST ai-providers', { name: aName('provider'), default_model: 'm', ...members })).ai_provider

test('a provider of a known vendor has a default address and enforces schemas; any other server requires an address', async () => {
  const [openai, anthropic] = [await aProvider({ kind: 'openai' }), await aProvider({ kind: 'anthropic' })]
  assert.deepEqual([openai['base_url'], openai['structured_outputs']], ['https://api.openai.com/v1', true])
  assert.deepEqual([anthropic['base_url'], anthropic['structured_outputs']], ['https://api.anthropic.com/v1', true])
  const local = await aProvider({ kind: 'openai_compatible', base_url: 'http://127.0.0.1:9/v1/' })
  assert.deepEqual([local['base_url'], local['structured_outputs']], ['http://127.0.0.1:9/v1', false])
  const body = { name: aName('provider'), kind: 'openai_compatible', default_model: 'm' }
  const refused = await world.admin('POST', 'ai-providers', body)
  assert.deepEqual([refused.status, /base_url is missing/.test(refused.body.error)], [400, true])
  const inside = await world.admin('POST', 'ai-providers', { ...body, base_url: 'http://10.0.0.1/v1' })
  assert.equal(inside.status, 400, 'a private address needs OUTBOUND_ALLOW')
})

test('a key goes only to the address that it was set for, and null removes it', async () => {
  const { id } = await aProvider({ kind: 'openai', api_key: KEY })
  const elsewhere = { base_url: 'https://models.example.com/v1' }
  const refused = await world.admin('PATCH', `ai-providers/${id}`, elsewhere)
  assert.equal(refused.status, 400)
  assert.match(refused.body.error, /^api_key: send it again when you change base_url/)
  const again = await asked(world, `PATCH ai-providers/${id}`, { ...elsewhere, api_key: KEY })
  assert.deepEqual([again.ai_provider.base_url, again.ai_provider.has_api_key], [elsewhere.base_url, true])
  const removed = await asked(world, `PATCH ai-providers/${id}`, { api_key: null })
  assert.equal(removed.ai_provider.has_api_key, false)
})

test('no answer, no audit row and no column shows a key in plain text', async () => {
  const { id } = await aProvider({ kind: 'openai', api_key: KEY })
  await asked(world, `PATCH ai-providers/${id}`, { default_model: 'n' })
  const { audit: rows } = await asked(world, 'GET audit?limit=50')
  assert.ok(rows.some(({ action }: { action: string }) => action === 'update_ai_provider'))
  const stored = await world.app.deps.database.many<{ row: string }>(sql`select p::text as row from ai_providers p`)
  const shown = [
    JSON.stringify(rows),
    JSON.stringify(await asked(world, 'GET ai-providers')),
    ...stored.map(({ row }) => row),
  ]
  const hex = Buffer.from(KEY).toString('hex')
  for (const text of shown) assert.ok(!text.includes(KEY) && !text.includes(hex))
})

test('an agent needs a provider of its project, and a schema of an object without references and patterns', async () => {
  const { provider } = await anAgentOf(world)
  const refusal = async (members: object): Promise<string> => {
    const given = { name: aName('agent'), provider_id: provider, instructions: 'Sort it.', ...members }
    const answer = await world.admin('POST', 'ai-agents', given)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    return answer.body.error
  }
  assert.match(
    await refusal({ provider_id: encodeId('aiProvider', world.app.deps.uuid()) }),
    /no AI provider with this id/,
  )
  assert.match(await refusal({ output_schema: { type: 'array' } }), /must have the type "object"/)
  const pattern = { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } }
  assert.match(await refusal({ output_schema: pattern }), /output_schema\.properties\.a has the keyword "pattern"/)
  const others = { type: 'object', additionalProperties: { type: 'string', pattern: '(a+)+$' } }
  assert.match(
    await refusal({ output_schema: others }),
    /output_schema\.additionalProperties has the keyword "pattern"/,
  )
})

test('the export of a project names the AI providers and agents that it leaves out', async () => {
  const { provider, agent } = await anAgentOf(world)
  const { ai_provider } = await asked(world, `GET ai-providers/${provider}`)
  const { ai_agent } = await asked(world, `GET ai-agents/${agent}`)
  const exported = JSON.stringify(await asked(world, 'GET config/export'))
  for (const { name } of [ai_provider, ai_agent]) assert.match(exported, new RegExp(`"name":"${name}"`))
})
