import type { Deps } from '../../context.ts'
import type { Buckets } from '../../platform/buckets.ts'
import type { Answered, Captured, IdempotencyKey, Receiver, Rejected } from '../types.ts'

/** The data that the rungs pass to each other. A rung may read only the members that the rungs above it have set. */
export type Passage = {
  readonly captured: Captured
  readonly receiver: Receiver
  body: Buffer
  /** The body, inflated if it was sent compressed. */
  content: Buffer
  payload: unknown
  isOutline: boolean
  /** The idempotency keys of the items of a large body; undefined: they have none, or the payload shows them. */
  keyOfItems: string | undefined
  /** The sender has proven the required signature, or none is required. */
  isProven: boolean
  text: string
  isBody: boolean
  hops: number
  chain: string | null
  idempotency: IdempotencyKey | undefined
}

type Checked = Rejected | Answered | undefined

/** A rung: undefined lets the request climb on; anything else is its answer. */
export type Check = (deps: Deps & { readonly buckets: Buckets }, passage: Passage) => Checked | Promise<Checked>
