import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeId, type Route } from '@postroad/contract'
import type { Client } from '@modelcontextprotocol/client'
import { Ajv } from 'ajv'
import { encode } from 'gpt-tokenizer'
import { prepareTools } from '../../src/surfaces/mcp/prepared.ts'
import {
  aKey,
  ALL,
  auditRows,
  enterPlaces,
  foreign,
  home,
  leavePlaces,
  world,
  type Asked,
} from '../stage/admin-asking.ts'
import { call, connected, ERAS } from '../stage/mcp-client.ts'
import { example } from '../stage/route-examples.ts'

/** Rules for every tool, derived from the contract: each is called with the example of its route. */
before(async () => {
  await enterPlaces()
  client = await connected(world, { key: home.key })
})
after(async () => {
  await client.close()
  await leavePlaces()
})
let client: Client

const PREPARED = prepareTools()
const named = (name: string): { readonly name: string; readonly route: Route } =>
  ALL.find((one) => one.name === name) ?? assert.fail(`There is no route ${name}.`)

type Args = Readonly<Record<string, unknown>>

/** The example of a route as arguments, without members that the tool leaves to the API. */
function argsOf({ params, query, body }: Asked, schema: object): Record<string, unknown> {
  const known = Object.keys(Reflect.get(schema, 'properties') ?? {})
  const all: Args = { ...params, ...query, ...body }
  return Object.fromEntries(Object.entries(all).filter(([name]) => known.includes(name)))
}

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

test('every tool does what its route does, in both eras, and answers in the form that it promises', async () => {
  const ajv = new Ajv({ strict: false })
  for (const era of ERAS) {
    const of = await connected(world, { key: home.key, era })
    const { tools } = await of.listTools()
    for (const { name, inputSchema, outputSchema } of tools) {
      const { tool, route } = PREPARED.find((one) => one.tool.name === name) ?? assert.fail(name)
      const args = argsOf(await example(named(tool.route), home), inputSchema)
      assert.ok(ajv.validate(inputSchema, args), `${name}: ${ajv.errorsText()}`)
      const rows = (await auditRows()).length
      const { isError, answer, text, tokens } = await call(of, name, args)
      assert.equal(isError, false, `${name}: ${text}`)
      assert.ok(ajv.validate(JSON.parse(JSON.stringify(outputSchema)), answer), `${name}: ${ajv.errorsText()} ${text}`)
      assert.ok(tokens <= 8_000, `${name}: ${tokens}`)
      const added = (await auditRows()).slice(rows).filter(({ agent }) => agent !== null)
      if (route.whileSuspended === 'read') assert.deepEqual(added, [], name)
      for (const { agent } of added) assert.match(agent ?? '', /^api_key:key_/)
    }
    await of.close()
  }
})

test('no tool reaches another workspace or another project of a one-project key', async () => {
  const { projectId } = home
  const only = await connected(world, { key: await aKey(home, { role: 'admin', projectId }) })
  for (const { tool, route, members, shown } of PREPARED) {
    if (!members.params.includes('id') || tool.route === 'search.correlate') continue
    const theirs = argsOf(await example(named(tool.route), foreign), shown.inputSchema)
    for (const by of [client, only]) {
      const { isError, answer } = await call(by, tool.name, theirs)
      assert.deepEqual([isError, answer.reason], [true, 'not_found'], tool.name)
      const there = await call(by, tool.name, { ...theirs, project_id: foreign.project })
      assert.equal(there.isError, true, tool.name)
      assert.equal(there.answer.reason, by === only ? 'project_out_of_scope' : 'not_found', tool.name)
    }
    assert.equal(route.area, 'project', tool.name)
  }
  await only.close()
})

test('an argument that a tool does not have, or a wrong one, is refused with the name of the argument and the next step', async () => {
  for (const { tool, shown } of PREPARED) {
    const { isError, answer } = await call(client, tool.name, { no_such_member: 1 })
    assert.deepEqual([isError, answer.reason], [true, 'invalid_request'], tool.name)
    assert.match(answer.error, /^no_such_member is not an argument /)
    assert.match(answer.next_step, /\.$/)
    const [required] = shown.inputSchema.required ?? []
    if (required === undefined) continue
    const without = await call(client, tool.name, {})
    assert.equal(without.isError, true, tool.name)
    // A missing id is as unknown as a wrong one.
    if (required !== 'id') assert.ok(without.answer.error.startsWith(`${required} `), `${tool.name}: ${without.text}`)
    assert.match(without.answer.next_step, /\.$/, tool.name)
  }
})

test('a project that does not exist is not found', async () => {
  const id = encodeId('project', world.app.deps.uuid())
  for (const project_id of [id, 'nonsense', 7]) {
    const { isError, answer } = await call(client, 'rules_list', { project_id })
    assert.deepEqual([isError, answer.reason], [true, 'not_found'])
  }
})
