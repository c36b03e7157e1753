import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeId } from '@postroad/contract'
import type { Client } from '@modelcontextprotocol/client'
import { encode } from 'gpt-tokenizer'
import { prepareTools } from '../../src/surfaces/mcp/prepared.ts'
import { enterPlacesWith, home, leavePlaces, world } from '../stage/admin-asking.ts'
import { call, connected } from '../stage/mcp-client.ts'

/** The list of the tools, derived from the contract; surfaces/judges/tools.ts calls each of them. */
before(async () => {
  await enterPlacesWith({ ROLES: 'web' })
  client = await connected(world, { key: home.key })
})
after(async () => {
  await client.close()
  await leavePlaces()
})
let client: Client

const PREPARED = prepareTools()

test('there are at most 40 tools, grouped by resource, and a model reads their list in 14,000 tokens', async () => {
  const { tools } = await client.listTools()
  assert.ok(tools.length <= 40, String(tools.length))
  assert.deepEqual(
    tools.map(({ name }) => name),
    PREPARED.map(({ tool }) => tool.name),
  )
  const shown = tools.map(({ outputSchema: _output, ...read }) => read)
  assert.ok(encode(JSON.stringify(shown)).length < 14_000, String(encode(JSON.stringify(shown)).length))
  for (const { name, title, description = '', outputSchema } of tools) {
    assert.match(name, /^[a-z]+(?:_[a-z]+)*$/)
    assert.match(title ?? '', /^[A-Z]/)
    assert.match(description, /^[A-Z].{20,}[.?]$/s, name)
    assert.equal(outputSchema?.['type'], 'object', name)
  }
})

test('annotations follow the contract: which tools read, which can be repeated, and which destroy', async () => {
  const { tools } = await client.listTools()
  for (const { route, tool } of PREPARED) {
    const { annotations } = tools.find(({ name }) => name === tool.name) ?? assert.fail(tool.name)
    assert.equal(annotations?.readOnlyHint, route.whileSuspended === 'read', tool.name)
    if (route.method === 'DELETE') assert.equal(annotations?.destructiveHint, true, tool.name)
    if (route.method === 'GET')
      assert.deepEqual([annotations?.destructiveHint, annotations?.idempotentHint], [false, true])
    if (tool.name.endsWith('_create')) assert.equal(annotations?.idempotentHint, false, tool.name)
  }
})

test('the settings of every known sender are arguments of endpoint_create', async () => {
  const { body } = await world.admin('GET', 'source-presets')
  const create = PREPARED.find(({ tool }) => tool.name === 'endpoint_create') ?? assert.fail()
  const known = Object.keys(create.shown.inputSchema.properties ?? {})
  const presets: readonly { readonly id: string; readonly settings: object | null }[] = body.source_presets
  assert.ok(presets.length > 20)
  for (const { id, settings } of presets)
    assert.deepEqual(
      Object.keys(settings ?? {}).filter((name) => !known.includes(name)),
      [],
      id,
    )
})

test('a list describes the length of its pages in a tool, without the default of the route', async () => {
  const { tools } = await client.listTools()
  const limits = tools
    .map(({ inputSchema }) => JSON.stringify(inputSchema.properties?.['limit']))
    .filter((limit) => limit !== undefined)
  assert.ok(limits.length > 10)
  for (const limit of limits) {
    assert.match(limit, /2,000 tokens, at most 20/)
    assert.doesNotMatch(limit, /"default"/)
  }
})

test('no tool is a route that agents may never call', () => {
  assert.deepEqual(
    PREPARED.filter(
      ({ route }) => route.callers === 'people' || route.operator === true || route.download !== undefined,
    ),
    [],
  )
})

test('a project that does not exist is not found', async () => {
  const id = encodeId('project', world.app.deps.uuid())
  for (const project_id of [id, 'nonsense', 7]) {
    const { isError, answer } = await call(client, 'rules_list', { project_id })
    assert.deepEqual([isError, answer.reason], [true, 'not_found'])
  }
})
