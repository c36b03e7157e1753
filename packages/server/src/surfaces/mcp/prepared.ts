import { LIMITS, routes, type Route } from '@postroad/contract'
import { z } from 'zod'
import { roleRefusal } from '../../domain/people/access.ts'
import { projectRefusal } from '../../domain/people/project-access.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { inputSchema, outputSchema, type JsonSchema } from './json-schema.ts'
import { TOOLS, verbOf, type Tool } from './tools/index.ts'

/** The members of a route that lists things of one kind. */
type ListShape = {
  /** The member with the items. */
  readonly member: string
  /** true: the route has pages itself; false: it returns the whole list, and the tool pages through it. */
  readonly paged: boolean
}

/** A tool with everything that is derived from its route. */
export type PreparedTool = {
  readonly tool: Tool
  readonly route: Route
  readonly room: string
  readonly verb: string
  readonly list: ListShape | undefined
  /** The names of its arguments, by the part of the request that they belong to. */
  readonly members: {
    readonly params: readonly string[]
    readonly query: readonly string[]
    readonly body: readonly string[]
  }
  /** Arguments of the tool that the route does not have. */
  readonly extra: readonly string[]
  /** As tools/list shows it. */
  readonly shown: ShownTool
}

export type ShownTool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema & { readonly type: 'object' }
  readonly outputSchema: JsonSchema & { readonly type: 'object' }
  readonly annotations: {
    readonly title: string
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

/** All tools, made once. */
export function prepareTools(): readonly PreparedTool[] {
  return TOOLS.map(prepare)
}

function prepare(tool: Tool): PreparedTool {
  const { room, verb } = verbOf(tool)
  const route = (routes as Readonly<Record<string, Readonly<Record<string, Route>>>>)[room]?.[verb]
  if (route === undefined) throw new Error(`The tool ${tool.name} has no route ${tool.route}.`)
  const list = listOf(route)
  const members = {
    params: taken(tool, route.params),
    query: taken(tool, route.query),
    body: taken(tool, route.body),
  }
  const shared = extraArguments({ route, list })
  const fields = inputOf(route, members, tool)
  return {
    tool,
    route,
    room,
    verb,
    list,
    members,
    extra: Object.keys(shared),
    shown: {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: { ...fields, type: 'object', properties: { ...fields.properties, ...shared } },
      outputSchema: { ...withExtras(outputSchema(route.output)), type: 'object' },
      annotations: annotationsOf(tool, route),
    },
  }
}

function taken({ takes }: Tool, fields: z.ZodObject | undefined): readonly string[] {
  const names = Object.keys(fields?.shape ?? {})
  return takes === undefined
    ? names
    : names.filter((name) => takes.includes(name) || name === 'limit' || name === 'cursor')
}

// oxlint-disable-next-line max-params -- the route, the names of its members, and the texts of the tool
function inputOf(route: Route, { params, query, body }: PreparedTool['members'], tool: Tool): JsonSchema {
  const { says = {}, brief = [] } = tool
  const shape = { ...route.params?.shape, ...route.query?.shape, ...route.body?.shape }
  const names = [...params, ...query, ...body]
  const schema = inputSchema(z.object(Object.fromEntries(names.map((name) => [name, shape[name] ?? z.unknown()]))))
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, member]) => [
      name,
      name === 'limit' ? LIMIT : { ...(brief.includes(name) ? { type: 'object' } : member), ...said(says[name]) },
    ]),
  )
  return { ...schema, properties }
}

const said = (description: string | undefined): JsonSchema => (description === undefined ? {} : { description })

/** A route with one list, and with `cursor` if it has pages. */
function listOf({ output, query }: Route): ListShape | undefined {
  if (!(output instanceof z.ZodObject)) return undefined
  const shape: Readonly<Record<string, z.ZodType>> = output.shape
  const lists = Object.keys(shape).filter((name) => shape[name] instanceof z.ZodArray)
  const [member] = lists
  const paged = query?.shape['cursor'] !== undefined
  const others = Object.keys(shape).filter((name) => name !== member)
  return member !== undefined && lists.length === 1 && (paged || others.length === 0) ? { member, paged } : undefined
}

/** The tool does not have the default of the route, because a page without a limit ends where it costs too much. */
const LIMIT: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: LIMITS.listLimitMax,
  description: `Up to 8,000 tokens. Absent: what fits into 2,000 tokens, at most ${LIMITS.mcpListDefault}.`,
}

/** The project, and the arguments that select a part of a long answer. */
function extraArguments({ route, list }: Pick<PreparedTool, 'route' | 'list'>): Readonly<Record<string, JsonSchema>> {
  const reads = route.whileSuspended === 'read'
  return {
    ...(route.area === 'project' ? { project_id: PROJECT } : {}),
    ...(reads && list?.paged !== true ? { path: PATH, cursor: CURSOR } : {}),
  }
}

const PROJECT: JsonSchema = { type: 'string', description: 'prj_…; absent: that of whoami.' }
const PATH: JsonSchema = {
  type: 'string',
  description: 'Return only this part of an answer that was cut, such as record.data.items.0.',
}
const CURSOR: JsonSchema = { type: 'string', description: '`next_cursor` of the previous page.' }

/** Members that an answer may have besides those of the route. */
function withExtras(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      next_cursor: {
        type: ['string', 'null'],
        description: 'Send it as cursor to continue. Absent: there is no more.',
      },
      missing: { type: 'array', items: { type: 'string' }, description: 'The parts that were cut to fit.' },
      path: { type: 'string' },
      part: { description: 'The part at this path.' },
    },
  }
}

function annotationsOf(tool: Tool, route: Route): ShownTool['annotations'] {
  const readOnlyHint = route.whileSuspended === 'read'
  return {
    title: tool.title,
    readOnlyHint,
    destructiveHint: !readOnlyHint && tool.destructive === true,
    idempotentHint: readOnlyHint || route.method !== 'POST' || tool.repeatable === true,
    openWorldHint: tool.reaches === true,
  }
}

/** The tools that this caller may use at all. A person can widen the grant of an agent, so an agent sees every tool. */
export function toolsFor(tools: readonly PreparedTool[], actor: Actor): readonly PreparedTool[] {
  if (actor.kind === 'agent') return tools
  const project = actor.kind === 'api_key' && actor.projectId !== null ? actor.projectId : ''
  return tools.filter(
    ({ route }) =>
      roleRefusal(actor, route) === undefined &&
      projectRefusal(actor, { route, project: { kind: 'named', id: project } }) === undefined,
  )
}
