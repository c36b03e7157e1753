import type { RouteShape } from './route-shape.ts'

export type Outgoing = {
  readonly method: RouteShape['method']
  /** The path relative to the address of the server; for the URL of an endpoint, the whole URL. */
  readonly path: string
  readonly body: string | undefined
}

export type Members = Readonly<Record<string, unknown>>

/**
 * Builds the request of one call. The shape of the route divides the members into path, query and body. Members that it does not name
 * are sent too, so that the server reports them.
 */
export function requestOf(
  shape: RouteShape,
  from: { readonly project: string | undefined; readonly members: Members },
): Outgoing {
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(from.members)) {
    if (value === undefined || shape.params.includes(name)) continue
    if (!shape.hasBody || shape.query.includes(name)) append(query, { name, value })
    else body[name] = value
  }
  const search = query.toString()
  return {
    method: shape.method,
    path: `${areaOf(shape, from.project)}${filled(shape.path, from.members)}${search === '' ? '' : `?${search}`}`,
    body: shape.hasBody ? JSON.stringify(body) : undefined,
  }
}

/** The path before that of a route: of the project, or of the workspace and its Default project. */
export function areaOf({ area }: Pick<RouteShape, 'area'>, project: string | undefined): string {
  if (area === 'workspace' || project === undefined) return '/admin/api/'
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
