import type { RouteGroups, RouteInput, RouteOutput, Routes } from '@postroad/contract'
import type { Ctx } from '../context.ts'
import { RawJson, stringifyAnswer } from '../domain/json/raw-json.ts'

/** The work of a route: context and parsed input → output. An expected refusal is thrown as a Refusal. */
export type Verb<R> = (ctx: Ctx, input: RouteInput<R>) => Promise<RouteOutput<R>>

/** A room serves every route of its name, or it does not compile. */
export type Room<Name extends keyof Routes> = { readonly [V in keyof Routes[Name]]: Verb<Routes[Name][V]> }
export type Rooms = { readonly [Name in keyof Routes]: Room<Name> }
/** The rooms of one group. */
export type RoomsOf<Group extends keyof RouteGroups> = {
  readonly [Name in keyof RouteGroups[Group] & keyof Routes]: Room<Name>
}

/**
 * An answer whose parts may be JSON already, because threads wrote them. It is sent as it is, so its members are those of the
 * contract.
 */
export function writtenAnswer<Output>(
  answer: NoInfer<{ readonly [Member in keyof Output]: Output[Member] | RawJson }>,
): Output {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- surfaces send its text, which has these members
  return new RawJson(stringifyAnswer(answer)) as unknown as Output
}
