import type { Conditions, Mappings } from '@postroad/contract'
import { compileIpAllowlist } from '../domain/ip-range.ts'
import { parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import {
  RouteComparer,
  type EndpointRoute,
  type RoutedPayload,
  type RouteDifference,
  type Routing,
} from '../domain/routing/compare-routes.ts'
import { WorkCounter } from '../domain/work-budget.ts'
import { createReader, type SharedText } from '../platform/heavy/shared.ts'
import { task } from '../platform/heavy/task.ts'
import { readStored, requestOf, type StoredBody } from './read-stored.ts'

/** Work for each character that is read. */
const READ_WORK = 8

/** A routing without functions, as JSON: its endpoints have their lists of addresses. */
export type WrittenRouting = Omit<Routing, 'endpoints'> & {
  readonly endpoints: readonly (readonly [string, WrittenEndpoint])[]
}
type WrittenEndpoint = Omit<EndpointRoute, 'allowsIp'> & { readonly ipAllowlist: readonly string[] }

export type Routings = { readonly before: WrittenRouting; readonly after: WrittenRouting }

/** A stored body, and how it came; `route` undefined: nothing routed it. */
export type RoutedBody = StoredBody & { readonly route: RouteOf | undefined }
type RouteOf<Of = RoutedPayload> = Of extends RoutedPayload ? Omit<Of, 'payload' | 'request' | 'chars'> : never

export type Left = { readonly work: number; readonly chars: number }
export type CompareAsked = {
  readonly routings: SharedText
  readonly bodies: readonly RoutedBody[]
  readonly left: Left
}
/** A difference, or none, or a body that cannot be read. The list ends where a limit was used up. */
export type CompareDone = {
  readonly found: readonly (RouteDifference | 'same' | 'unreadable')[]
  readonly left: Left
}

export const compareRoutes = task(
  'routes.compare',
  async ({ routings, bodies, left }: CompareAsked): Promise<CompareDone> => {
    const { before, after } = readRoutings(routings)
    const budget = new WorkCounter(left.work)
    const comparer = new RouteComparer({ before, after, budget })
    const found: CompareDone['found'][number][] = []
    let { chars } = left
    for (const { route, ...stored } of bodies) {
      if (budget.usedUp || chars <= 0) break
      // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
      const read = await readStored(stored)
      if (!read.ok) {
        found.push('unreadable')
        continue
      }
      chars -= read.chars
      budget.spend(READ_WORK * read.chars)
      const of = route && { ...route, payload: read.payload, request: requestOf(stored), chars: read.chars }
      found.push((of && comparer.differenceOf(of)) ?? 'same')
    }
    return { found, left: { work: budget.left, chars } }
  },
)

export const routingsText = (routings: Routings): string => stringifyJson(routings)

const readRoutings = createReader((text) => {
  const parsed = parseStoredJson(text)
  if (!parsed.ok) throw new Error(`The routings are not JSON: ${parsed.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `routingsText`
  const { before, after } = parsed.value as Routings
  const lists = new Map<string, Conditions | Mappings>()
  return { before: routingOf(before, lists), after: routingOf(after, lists) }
})

/** Equal lists are one list, so that the comparer evaluates those that both routings have once. */
function routingOf(written: WrittenRouting, lists: Map<string, Conditions | Mappings>): Routing {
  const one = <List extends Conditions | Mappings>(list: List): List => {
    const key = stringifyJson(list)
    const known = lists.get(key)
    if (known === undefined) lists.set(key, list)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- lists with the same text have the same type
    return (known ?? list) as List
  }
  return {
    endpoints: new Map(
      written.endpoints.map(([id, { ipAllowlist, ...of }]) => [
        id,
        { ...of, criteria: one(of.criteria), mappings: one(of.mappings), allowsIp: compileIpAllowlist(ipAllowlist) },
      ]),
    ),
    rules: written.rules.map((of) => ({ ...of, conditions: one(of.conditions), mappings: one(of.mappings) })),
    destinations: written.destinations.map((of) => ({ ...of, conditions: one(of.conditions) })),
    starters: written.starters.map((of) => ({ ...of, conditions: one(of.conditions) })),
  }
}
