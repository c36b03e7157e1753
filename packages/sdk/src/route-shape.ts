/** The parts of a route that a client needs at run time: plain data, without the schemas. */
export type RouteShape = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly area: 'project' | 'workspace'
  readonly path: string
  /** The names of the members that are in the path, and of those in the query. */
  readonly params: readonly string[]
  readonly query: readonly string[]
  /** Whether the other members are a JSON body. */
  readonly hasBody: boolean
  /** The response is a page of a list. */
  readonly isList: boolean
  readonly reads: 'json' | 'text' | 'bytes'
  /** It changes something and takes an Idempotency-Key. */
  readonly takesKey: boolean
  /** It changes nothing, so it may be sent again with any method. */
  readonly onlyReads: boolean
  /** `for_now`: the response to the deletion names a deletion that can be undone. `for_good`: it does not. null: other routes. */
  readonly removes: 'for_good' | 'for_now' | null
}

/** The shapes by room and verb. */
export type RouteShapes = Readonly<Record<string, Readonly<Record<string, RouteShape>>>>
