import { routes, type Route } from '@postroad/contract'
import { COMMANDS_BY_OTHERS, commandWords } from '@postroad/contract/command-words'
import { curlCommand, shellWord } from '@postroad/contract/quoting'
import type { Project } from '../data/place.ts'
import { MCP_TOOLS } from './mcp-tools.ts'

type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absent: a call about the whole workspace. */
  readonly project?: Project
  /** Below the project or the workspace, without its query: `workflows/wfl_…`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

type Addressed = Pick<Route, 'method' | 'area' | 'path'>

/** A call that a person can copy: by its path below the project, or by its route. */
export type CopiedCall = Omit<Call, 'project'> | CallOfRoute

type CallOfRoute = {
  readonly route: Addressed
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Call['query']
  readonly body?: unknown
  /** The words of the CLI after its name, where its command takes other input than the route. */
  readonly cli?: string
}

/** A call of the admin API as a command for a terminal; the key comes from the environment, as for the CLI. */
export function adminCurl({ method = 'GET', project, path, query = {}, body }: Call): string {
  const json = body === undefined ? undefined : JSON.stringify(body)
  const search = new URLSearchParams(presentIn(query)).toString()
  return curlCommand({
    url: `${location.origin}/admin/api/${project === undefined ? '' : `projects/${project.id}/`}${path}${search === '' ? '' : `?${search}`}`,
    method,
    headers: {
      Authorization: ['Bearer ', { variable: 'SERVICE_TOKEN' }],
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: json,
  })
}

export function cli(words: string): string {
  return `npx postroad ${words}`
}

/** A command for the open project; without the flag, the CLI takes another one. */
// oxlint-disable-next-line max-params -- a project and the words of a command
export function cliIn({ is_default, slug }: Pick<Project, 'is_default' | 'slug'>, words: string): string {
  return cli(is_default ? words : `${words} --project ${shellWord(slug)}`)
}

/** A call in each form that exists: most routes are not tools of the MCP server, and some refuse a key. */
export type Calls = { readonly curl?: string; readonly cli?: string; readonly mcp?: string }

type Placed = Call & { readonly area: Route['area']; readonly cli?: string | undefined }

/** A call as curl, as a command of the CLI, and as a call of an MCP tool. */
export function callsOf(call: CopiedCall, project: Project): Calls {
  const placed = placedOf(call)
  const found = routeOf(placed)
  const curl = adminCurl({ ...placed, ...(placed.area === 'project' ? { project } : {}) })
  if (found === undefined) return { curl }
  return {
    // On routes that only people may call, the server refuses the key of the command line.
    ...(found.callers === 'people' ? {} : { curl }),
    cli: placed.cli === undefined ? cliOf(placed, { ...found, project }) : cli(placed.cli),
    ...mcpOf(placed, { ...found, project }),
  }
}

function placedOf(call: CopiedCall): Placed {
  if (!('route' in call)) return { ...call, area: 'project' }
  const { route, params = {}, query, body, cli: words } = call
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))
  return { area: route.area, method: route.method, path, body, cli: words, ...(query === undefined ? {} : { query }) }
}

type Found = Pick<Route, 'area' | 'callers'> & {
  readonly room: string
  readonly verb: string
  /** The members of the path, in their order. */
  readonly inPath: readonly (readonly [name: string, value: string])[]
}
type FoundIn = Found & { readonly project: Project }

/** The route of a call. A route without parameters is more exact: `forwarders/presets` is not `forwarders/{id}`. */
function routeOf({ method = 'GET', area, path }: Placed): Found | undefined {
  const wanted = path.split('/')
  const all = Object.entries(routes).flatMap(([room, verbs]) =>
    Object.entries<Addressed & Pick<Route, 'callers'>>(verbs).flatMap(([verb, route]) => {
      const steps = route.path.split('/')
      const fits =
        route.area === area &&
        route.method === method &&
        steps.length === wanted.length &&
        steps.every((step, at) => step.startsWith('{') || step === wanted[at])
      if (!fits) return []
      const inPath = steps.flatMap((step, at) =>
        step.startsWith('{') ? [[step.slice(1, -1), wanted[at] ?? ''] as const] : [],
      )
      return [{ room, verb, area, callers: route.callers, inPath }]
    }),
  )
  return all.toSorted((a, b) => a.inPath.length - b.inPath.length)[0]
}

function cliOf({ query = {}, body, method }: Call, { room, verb, inPath, area, project }: FoundIn): string {
  const words = COMMANDS_BY_OTHERS[`${room}.${verb}`]?.split(' ') ?? commandWords({ room, verb })
  const flags = Object.entries(presentIn(query)).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    shellWord(value),
  ])
  return cli(
    [
      ...words,
      ...inPath.map(([, value]) => shellWord(value)),
      ...flags,
      ...(body === undefined ? [] : ['--data', shellWord(JSON.stringify(body))]),
      ...(method === 'DELETE' ? ['--yes'] : []),
      ...(area === 'workspace' || project.is_default ? [] : ['--project', shellWord(project.slug)]),
    ].join(' '),
  )
}

function mcpOf({ query = {}, body }: Call, { room, verb, inPath, area, project }: FoundIn): { readonly mcp?: string } {
  const name = MCP_TOOLS[`${room}.${verb}`]
  if (name === undefined) return {}
  const members = {
    ...Object.fromEntries(inPath),
    ...presentIn(query),
    ...(typeof body === 'object' ? body : {}),
    ...(area === 'workspace' || project.is_default ? {} : { project_id: project.id }),
  }
  return { mcp: JSON.stringify({ method: 'tools/call', params: { name, arguments: members } }, null, 2) }
}

function presentIn(query: NonNullable<Call['query']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)] as const],
    ),
  )
}
