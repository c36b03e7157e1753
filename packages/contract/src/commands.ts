import { z } from 'zod'
import { commandWords } from './command-words.ts'
import type { Route } from './route.ts'
import { routeGroups, type RouteGroups } from './routes/index.ts'

/** One room of the API as commands: how the command line names a route, its arguments and its options. All of it is read from the route. */
export type RoomCommand = {
  /** The room and the verb in `routes`. */
  readonly room: string
  readonly verb: string
  /** The words of the command, such as `ingest-keys` and `create`. */
  readonly words: readonly [room: string, verb: string]
  readonly group: keyof RouteGroups
  readonly method: Route['method']
  readonly area: Route['area']
  readonly summary: string
  readonly description: string
  readonly people: boolean
  readonly operator: boolean
  readonly showsSecret: boolean
  readonly hasBody: boolean
  readonly pages: boolean
  readonly args: readonly CommandArgument[]
  readonly flags: readonly CommandFlag[]
  /** The member with the items of a list, and the members of an item that fit a table. */
  readonly items?: { readonly member: string; readonly columns: readonly string[] }
}

export type CommandArgument = {
  /** The member of the path. */
  readonly name: string
  /** The prefix of its ids; absent: the argument is not an id. */
  readonly prefix?: string
  /** The room whose list finds it by another member. */
  readonly lookup?: { readonly room: string; readonly by: 'slug' | 'name' }
}

export type CommandFlag = {
  /** The member of the query or the body. */
  readonly name: string
  readonly type: 'text' | 'time' | 'integer' | 'number' | 'boolean' | 'texts' | 'json'
  readonly in: 'query' | 'body'
  readonly required: boolean
  readonly nullable: boolean
  readonly choices?: readonly string[]
  readonly description?: string
}

type Rooms = Readonly<Record<string, Readonly<Record<string, Route>>>>
type Schema = {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** The commands of all rooms, in the order of the routes. */
export function roomCommands(): readonly RoomCommand[] {
  const groups: Readonly<Record<keyof RouteGroups, Rooms>> = routeGroups
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
  const names = Object.keys(groups) as (keyof RouteGroups)[]
  const lookups = lookupsOf(Object.assign({}, ...Object.values(groups)))
  return names.flatMap((group) =>
    Object.entries(groups[group]).flatMap(([room, verbs]) =>
      Object.entries(verbs).map(([verb, route]) => commandOf(route, { group, room, verb, lookups })),
    ),
  )
}

type Lookups = ReadonlyMap<string, NonNullable<CommandArgument['lookup']>>
type Place = {
  readonly group: keyof RouteGroups
  readonly room: string
  readonly verb: string
  readonly lookups: Lookups
}

function commandOf(route: Route, { group, room, verb, lookups }: Place): RoomCommand {
  const query = inputOf(route.query)
  const items = itemsOf(route)
  const pages = query.properties?.['cursor'] !== undefined
  return {
    room,
    verb,
    words: commandWords({ room, verb }),
    group,
    method: route.method,
    area: route.area,
    summary: route.summary,
    description: route.description,
    people: route.callers === 'people',
    operator: route.operator === true,
    showsSecret: route.showsSecret === true,
    hasBody: route.body !== undefined,
    pages,
    args: argumentsOf(route, lookups),
    flags: [...flagsOf(query, 'query'), ...flagsOf(inputOf(route.body), 'body')].filter(
      ({ name }) => !pages || (name !== 'limit' && name !== 'cursor'),
    ),
    ...(items === undefined ? {} : { items }),
  }
}

function inputOf(fields: z.ZodType | undefined): Schema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema has these members
  return fields === undefined ? {} : (z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' }) as Schema)
}

function outputOf(type: z.ZodType): Schema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema has these members
  return z.toJSONSchema(type, { io: 'output', unrepresentable: 'any', reused: 'inline' }) as Schema
}

function argumentsOf({ path, params }: Route, lookups: Lookups): readonly CommandArgument[] {
  const { properties = {} } = inputOf(params)
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const [, prefix] = /^\^([a-z]+)_/.exec(properties[name]?.pattern ?? '') ?? []
    const lookup = prefix === undefined ? undefined : lookups.get(prefix)
    return { name, ...(prefix === undefined ? {} : { prefix }), ...(lookup === undefined ? {} : { lookup }) }
  })
}

const prefixIn = (id: Schema | undefined): string | undefined => /^([a-z]+)_…/.exec(id?.description ?? '')?.[1]

/** The lists in which an item can be found by its slug or its name, by the prefix of its ids. */
function lookupsOf(rooms: Rooms): Lookups {
  const found = new Map<string, NonNullable<CommandArgument['lookup']>>()
  for (const [room, { list }] of Object.entries(rooms)) {
    if (list === undefined || list.params !== undefined || list.operator === true) continue
    const { properties = {} } = itemOf(list) ?? {}
    const prefix = prefixIn(properties['id'])
    const by = (['slug', 'name'] as const).find((name) => properties[name]?.type === 'string')
    if (prefix !== undefined && by !== undefined && !found.has(prefix)) found.set(prefix, { room, by })
  }
  return found
}

function flagsOf({ properties = {}, required = [] }: Schema, place: CommandFlag['in']): readonly CommandFlag[] {
  return Object.entries(properties).map(([name, schema]) => {
    const choices = choicesOf(schema)
    const description = firstSentence(schema.description)
    return {
      name,
      type: typeOf(schema),
      in: place,
      required: required.includes(name),
      nullable: schema.anyOf?.some(({ type }) => type === 'null') ?? false,
      ...(choices === undefined ? {} : { choices }),
      ...(description === undefined ? {} : { description }),
    }
  })
}

const firstSentence = (text: string | undefined): string | undefined => text?.replace(/(?<=\.) [A-Z`].*$/s, '')

/** The schema without `null`. */
function present(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  const [only] = others
  return others.length === 1 && only !== undefined ? present(only) : schema
}

function typeOf(of: Schema): CommandFlag['type'] {
  const schema = present(of)
  const { type, format, items } = schema
  if (type === 'string') return format === 'date-time' ? 'time' : 'text'
  if (type === 'integer' || type === 'number' || type === 'boolean') return type
  if (schema.anyOf?.some((one) => typeOf(one) === 'texts') === true) return 'texts'
  return type === 'array' && items !== undefined && present(items).type === 'string' ? 'texts' : 'json'
}

function choicesOf(of: Schema): readonly string[] | undefined {
  const schema = present(of)
  const values = schema.enum ?? (schema.items === undefined ? undefined : present(schema.items).enum)
  return values?.every((value) => typeof value === 'string') === true ? values : undefined
}

/** The schema of an item of a list; undefined when the route is not a list. */
function itemOf({ output, download }: Route): Schema | undefined {
  if (download !== undefined) return undefined
  const { properties = {} } = outputOf(output)
  const [member] = listMember(properties) ?? []
  return member === undefined ? undefined : properties[member]?.items
}

function listMember(properties: Readonly<Record<string, Schema>>): readonly [string] | undefined {
  const lists = Object.entries(properties).filter(([, { type, items }]) => type === 'array' && items?.type === 'object')
  const [only] = lists
  const others = Object.entries(properties).filter(([name]) => name !== only?.[0] && name !== 'next_cursor')
  // A search reports its progress. Without a cursor, such members are the subject and the list is a part of it.
  const isList = others.length === 0 || ('next_cursor' in properties && others.every(([, schema]) => isScalar(schema)))
  return lists.length === 1 && only !== undefined && isList ? [only[0]] : undefined
}

const isScalar = (schema: Schema): boolean => ['text', 'time', 'integer', 'number', 'boolean'].includes(typeOf(schema))

/** The members that identify an item come first. */
const FIRST = ['id', 'name', 'slug', 'title', 'status', 'state', 'enabled', 'role']
const rankOf = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

function itemsOf(route: Route): RoomCommand['items'] {
  const item = itemOf(route)
  if (item === undefined) return undefined
  const [member = ''] = listMember(outputOf(route.output).properties ?? {}) ?? []
  const columns = Object.entries(item.properties ?? {}).flatMap(([name, schema]) =>
    ['text', 'time', 'integer', 'number', 'boolean', 'texts'].includes(typeOf(schema)) ? [name] : [],
  )
  return { member, columns: columns.toSorted((a, b) => rankOf(a) - rankOf(b)) }
}
