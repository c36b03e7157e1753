import type { z } from 'zod'
import type { Reason } from './errors.ts'
import type { Route } from './route.ts'

type SentBody<R> = R extends Route<infer _P, infer _Q, infer B> ? (B extends z.ZodObject ? z.input<B> : never) : never

/**
 * The facts about a room beyond its routes. It is in a file beside them, which only the OpenAPI document loads
 * (docs/adr/0410).
 */
export type About<Room> = {
  /** One sentence about the room. */
  readonly text: string
  /** The schemas that programs refer to by name, in the document and in the SDK. */
  readonly schemas?: Readonly<Record<string, z.ZodType>>
  /** Example bodies of operations. A missing one is generated from its schema. */
  readonly bodies?: { readonly [Verb in keyof Room]?: SentBody<Room[Verb]> }
  /** Example values of the members of schemas, by the name of the schema. */
  readonly members?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The refusals of single operations, beyond those that every route can give. */
  readonly refusals?: { readonly [Verb in keyof Room]?: readonly Reason[] }
}

/** A room of a group without its `about` does not compile. */
export type AboutRooms<Group> = { readonly [Room in keyof Group]: About<Group[Room]> }
