import type { Deps } from '../../context.ts'
import type { Buckets } from '../buckets.ts'
import type { Answered, Captured, IdempotencyKey, Receiver, Rejected } from '../types.ts'

/** What the rungs pass on to each other: filled from top to bottom, read only below. */
export type Passage = {
  readonly captured: Captured
  readonly receiver: Receiver
  body: Buffer
  /** The body, inflated when it was sent compressed. */
  content: Buffer
  payload: unknown
  /** The sender has shown the signature that is asked for, or none is. */
  isProven: boolean
  text: string
  hops: number
  chain: string | null
  idempotency: IdempotencyKey | undefined
}

type Checked = Rejected | Answered | undefined

/** A rung: undefined lets the request climb on; anything else is its answer. */
export type Check = (deps: Deps & { readonly buckets: Buckets }, passage: Passage) => Checked | Promise<Checked>
