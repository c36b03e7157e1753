import type { Deps } from '../../context.ts'
import type { Captured, Receiver, Rejected } from '../types.ts'

/** What the rungs pass on to each other: filled from top to bottom, read only below. */
export type Passage = {
  readonly captured: Captured
  readonly receiver: Receiver
  body: Buffer
  payload: unknown
  text: string
  hops: number
}

export type Check = (deps: Deps, passage: Passage) => Rejected | undefined | Promise<Rejected | undefined>
