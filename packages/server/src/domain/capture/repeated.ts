/** How senders repeat events: with an equal body, or with the key of another event. */
export type Repeated = 'duplicate' | 'key_reused'

/** The repeats of a submission, as its row has them. */
export type Repeats = { readonly duplicates: number | null; readonly key_reused: boolean | null }

/** Whether a submission was repeated in this way; undefined: in any way or in none. */
export function isRepeated({ duplicates, key_reused }: Repeats, how: Repeated | undefined): boolean {
  if (how === undefined) return true
  return how === 'duplicate' ? duplicates !== null : key_reused === true
}
