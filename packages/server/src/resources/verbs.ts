import type { RouteGroups, RouteInput, RouteOutput, Routes } from '@postroad/contract'
import type { Ctx } from '../context.ts'

/** The work of a route: context and parsed input → output. An expected refusal is thrown as a Refusal. */
export type Verb<R> = (ctx: Ctx, input: RouteInput<R>) => Promise<RouteOutput<R>>

/** A room serves every route of its name, or it does not compile. */
export type Room<Name extends keyof Routes> = { readonly [V in keyof Routes[Name]]: Verb<Routes[Name][V]> }
export type Rooms = { readonly [Name in keyof Routes]: Room<Name> }
/** The rooms of one group. */
export type RoomsOf<Group extends keyof RouteGroups> = {
  readonly [Name in keyof RouteGroups[Group] & keyof Routes]: Room<Name>
}
