import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/client'
import { Ajv } from 'ajv'
import { prepareTools, type PreparedTool } from '../../../src/surfaces/mcp/prepared.ts'
import { aKey, auditRowsAfter, home, lastAuditRow, world, type Asked, type Named } from '../../stage/admin-asking.ts'
import { isWhole } from '../../stage/eighths.ts'
import { ofHouse, victim } from '../../stage/houses.ts'
import { call, connected, ERAS, type Era } from '../../stage/mcp-client.ts'
import { paramsOf, shapeOf } from '../../stage/mounted.ts'
import { example, sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

/** The tool of each route that has one, called with the example of its route. */

const PREPARED = prepareTools()
const BY_ROUTE = new Map<string, PreparedTool>(PREPARED.map((prepared) => [prepared.tool.route, prepared]))
const toolOf = ({ name }: Named): PreparedTool => BY_ROUTE.get(name) ?? assert.fail(`${name} has no tool`)
const hasTool = ({ name }: Named): boolean => BY_ROUTE.has(name)

/** An example as arguments, without members that the tool leaves to the API. */
function argsOf({ params, query, body }: Asked, schema: object): Record<string, unknown> {
  const known: Readonly<Record<string, { readonly type?: string }>> = Reflect.get(schema, 'properties') ?? {}
  const all: Readonly<Record<string, unknown>> = { ...params, ...query, ...body }
  // The query of a request is text; an argument of a tool has a type.
  return Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => name in known)
      .map(([name, value]) => [name, known[name]?.type === 'integer' ? Number(value) : value]),
  )
}

type Listed = Awaited<ReturnType<Client['listTools']>>['tools']
type Connected = { readonly era: Era; readonly client: Client; readonly tools: Listed }
let eras: readonly Connected[] = []
let only: Client
const modern = (): Client => eras.find(({ era }) => era === 'auto')?.client ?? assert.fail()

/** A client of each era with the key of the stage, and one with a key for one project. */
async function withClients(walk: () => Promise<void>): Promise<void> {
  eras = await Promise.all(
    ERAS.map(async (era) => {
      const client = await connected(world, { key: home.key, era })
      return { era, client, tools: (await client.listTools()).tools }
    }),
  )
  only = await connected(world, { key: await aKey(home, { role: 'admin', projectId: home.projectId }) })
  try {
    await walk()
  } finally {
    await Promise.all([only, ...eras.map(({ client }) => client)].map((client) => client.close()))
  }
}

const ajv = new Ajv({ strict: false })

const likeTheirRoutes: Judge = {
  promise: 'every tool does what its route does, in both eras, and answers in the form that it promises',
  about: hasTool,
  around: async (walk, routes) => {
    if (isWhole) assert.equal(routes.length, PREPARED.length, 'each tool has its route')
    await withClients(walk)
  },
  judge: async (named) => {
    const { tool, route } = toolOf(named)
    for (const { era, client, tools } of eras) {
      const { inputSchema, outputSchema } = tools.find(({ name }) => name === tool.name) ?? assert.fail(tool.name)
      const args = argsOf(await example(named, home), inputSchema)
      assert.ok(ajv.validate(inputSchema, args), ajv.errorsText())
      const had = await lastAuditRow()
      const { isError, answer, text, tokens } = await call(client, tool.name, args)
      assert.equal(isError, false, `${era}: ${text}`)
      assert.ok(ajv.validate(JSON.parse(JSON.stringify(outputSchema)), answer), `${era}: ${ajv.errorsText()} ${text}`)
      // Every member may be cut, so the schema requires none.
      const members = Object.keys(shapeOf(route.output)).filter((name) => name !== 'next_cursor')
      assert.ok(
        members.some((name) => name in Object(answer)),
        `${era}: ${text}`,
      )
      assert.ok(tokens <= 8_000, `${tokens} tokens`)
      const added = (await auditRowsAfter(had)).filter(({ agent }) => agent !== null)
      if (route.whileSuspended === 'read') assert.deepEqual(added, [])
      for (const { agent } of added) assert.match(agent ?? '', /^api_key:key_/)
    }
  },
}

const insideTheirTenant: Judge = {
  promise: 'no tool reaches another workspace or another project of a one-project key',
  about: (named) => hasTool(named) && toolOf(named).members.params.includes('id') && named.name !== 'search.correlate',
  around: withClients,
  judge: async (named) => {
    const { tool, route, shown } = toolOf(named)
    const asked = { ...(await sharedExample(named)), params: paramsOf(named, ofHouse(victim)) }
    const theirs = argsOf(asked, shown.inputSchema)
    for (const client of [modern(), only]) {
      const { isError, answer } = await call(client, tool.name, theirs)
      assert.deepEqual([isError, answer.reason], [true, 'not_found'])
      const there = await call(client, tool.name, { ...theirs, project_id: victim.project })
      assert.equal(there.isError, true)
      assert.equal(there.answer.reason, client === only ? 'project_out_of_scope' : 'not_found')
    }
    assert.equal(route.area, 'project')
  },
}

const refusedArguments: Judge = {
  promise:
    'an argument that a tool does not have, or a wrong one, is refused with the name of the argument and the next step',
  about: hasTool,
  around: withClients,
  judge: async (named) => {
    const { tool, shown } = toolOf(named)
    const client = modern()
    const { isError, answer } = await call(client, tool.name, { no_such_member: 1 })
    assert.deepEqual([isError, answer.reason], [true, 'invalid_request'])
    assert.match(answer.error, /^no_such_member is not an argument /)
    assert.match(answer.next_step, /\.$/)
    const [required] = shown.inputSchema.required ?? []
    if (required === undefined) return
    const without = await call(client, tool.name, {})
    assert.equal(without.isError, true)
    // A missing id is as unknown as a wrong one.
    if (required !== 'id') assert.ok(without.answer.error.startsWith(`${required} `), without.text)
    assert.match(without.answer.next_step, /\.$/)
  },
}

export const tools: readonly Judge[] = [likeTheirRoutes, insideTheirTenant, refusedArguments]
