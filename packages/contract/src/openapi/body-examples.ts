import type { z } from 'zod'
import type { Route } from '../route.ts'
import type { Routes } from '../routes/index.ts'

type SentBody<R> = R extends Route<infer _P, infer _Q, infer B> ? (B extends z.ZodObject ? z.input<B> : never) : never
/** An example body for each operation that may have one. */
export type BodyExamples = {
  readonly [Room in keyof Routes]?: { readonly [Verb in keyof Routes[Room]]?: SentBody<Routes[Room][Verb]> }
}
