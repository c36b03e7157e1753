import type { Route } from '@postroad/contract'

export type Outgoing = {
  readonly method: Route['method']
  /** The path relative to the base URL. */
  readonly path: string
  readonly body: string | undefined
}

type Members = Readonly<Record<string, unknown>>

/**
 * Builds the request of one call. The schemas of the route divide the members into path, query and body. Members that no schema
 * names are sent too, so that the server reports them.
 */
export function requestOf(
  route: Route,
  from: { readonly project: string | undefined; readonly members: Members },
): Outgoing {
  const inPath = names(route.params)
  const inQuery = names(route.query)
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(from.members)) {
    if (value === undefined || inPath.has(name)) continue
    if (route.body === undefined || inQuery.has(name)) append(query, { name, value })
    else body[name] = value
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`
  return {
    method: route.method,
    path: areaOf(route, from.project) + filled(route.path, from.members) + search,
    body: route.body === undefined ? undefined : JSON.stringify(body),
  }
}

function areaOf(route: Route, project: string | undefined): string {
  if (route.area === 'workspace' || project === undefined) return '/admin/api/'
  return `/admin/api/projects/${encodeURIComponent(project)}/`
}

function filled(path: string, members: Members): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = members[name]
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`"${name}" is missing: it is part of the path ${path}.`)
    return encodeURIComponent(value)
  })
}

function append(query: URLSearchParams, { name, value }: { name: string; value: unknown }): void {
  for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one))
}

function names(fields: Route['params']): ReadonlySet<string> {
  return new Set(Object.keys(fields?.shape ?? {}))
}
