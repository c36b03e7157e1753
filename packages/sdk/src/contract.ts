import { routes, type Reason, type Route, type RouteAnswer, type RouteRequest, type Routes } from '@postroad/contract'
import type { CallOptions, Pages } from './call.ts'
import type { RouteShape, RouteShapes } from './route-shape.ts'

/** The only file that knows the contract. The published package has a generated file instead, without zod (ADR 151). */
export { SERVICE_VERSION, type Accepted, type Reason, type StreamFrameData } from '@postroad/contract'

/** Every route of the contract as a method: `client.destinations.create({ … })`. */
export type Client = {
  readonly [Room in keyof Routes]: { readonly [Verb in keyof Routes[Room]]: Method<Routes[Room][Verb]> }
}

type Method<R> =
  Partial<RouteRequest<R>> extends RouteRequest<R>
    ? (request?: RouteRequest<R>, options?: CallOptions) => Answering<RouteAnswer<R>>
    : (request: RouteRequest<R>, options?: CallOptions) => Answering<RouteAnswer<R>>

type Answering<A> = A extends { next_cursor: string | null } ? Pages<ItemOf<A>, A> : Promise<A>
type ItemOf<A> = { [Name in keyof A]: A[Name] extends readonly (infer Item)[] ? Item : never }[keyof A]

/** A reason of the contract, or one that a newer server gives. */
export type RefusalReason = Reason | (string & {})

export const SHAPES: RouteShapes = Object.fromEntries(
  Object.entries(routes).map(([room, verbs]) => [
    room,
    Object.fromEntries(Object.entries<Route>(verbs).map(([verb, route]) => [verb, shapeOf(route)])),
  ]),
)

function shapeOf(route: Route): RouteShape {
  const { method, area, path, body } = route
  const isPost = method === 'POST'
  const onlyReads = method === 'GET' || route.whileSuspended === 'read'
  return {
    method,
    area,
    path,
    params: names(route.params),
    query: names(route.query),
    hasBody: body !== undefined,
    isList: isList(route),
    reads: readsOf(route),
    takesKey: isPost && !onlyReads && route.refusesIdempotencyKey !== true,
    onlyReads,
    removes: removesOf(route),
  }
}

function removesOf({ method, output }: Route): RouteShape['removes'] {
  if (method !== 'DELETE') return null
  const members = membersOf(output).toSorted().join(' ')
  if (members === 'ok') return 'for_good'
  return members === 'deletion ok' ? 'for_now' : null
}

function names(fields: Route['params']): readonly string[] {
  return Object.keys(fields?.shape ?? {})
}

function readsOf({ download }: Route): RouteShape['reads'] {
  if (download === undefined) return 'json'
  return download.stored === true || download.bytes === true ? 'bytes' : 'text'
}

function isList({ output }: Route): boolean {
  return membersOf(output).includes('next_cursor')
}

function membersOf(output: Route['output']): readonly string[] {
  return 'shape' in output && typeof output.shape === 'object' && output.shape !== null ? Object.keys(output.shape) : []
}
