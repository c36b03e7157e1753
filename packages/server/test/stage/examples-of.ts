import type { Routes } from '@postroad/contract'
import type { Asked, Place } from './admin-asking.ts'

/** An example of an admin route: the request, with every resource that it needs, on a server without loops. */
export type Example = (at: Place) => Promise<Asked> | Asked

export type ExamplesOf = { readonly room: string; readonly of: Readonly<Record<string, Example>> }

/** The examples of a room, in `<group>/<room>.examples.ts`. A route without one does not compile. */
export function examplesOf<Room extends keyof Routes>(
  room: Room,
  of: { readonly [Verb in keyof Routes[Room]]: Example },
): ExamplesOf {
  return { room, of }
}
