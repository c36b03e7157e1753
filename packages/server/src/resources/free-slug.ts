import type { Ctx } from '../context.ts'
import { refuse } from '../domain/refusal.ts'
import { slugFrom } from '../domain/slug.ts'

const MARK_CHARS = 6
const SLUG_CHARS_MAX = 63

export type FreeSlugOptions<Row> = {
  /** What was asked for; undefined: one is made of the name. */
  readonly slug: string | undefined
  readonly name: string
  /** For a name of which nothing is left in a slug. */
  readonly fallback: string
  /** Gives undefined when the slug is taken, or may not be used. */
  readonly insert: (slug: string) => Promise<Row | undefined>
  /** What to say when the slug that was asked for is taken; the table's sentence speaks of a project. */
  readonly taken?: string
}

/** Inserts under the slug that was asked for; else under one made of the name, with a mark when that one is taken. */
export async function insertUnderFreeSlug<Row>(
  { randomText }: Pick<Ctx, 'randomText'>,
  options: FreeSlugOptions<Row>,
): Promise<Row> {
  const { slug, name, fallback, insert, taken } = options
  const own = slug ?? slugFrom(name, fallback)
  const row = await insert(own)
  if (row !== undefined) return row
  if (slug !== undefined) throw refuse('slug_taken', taken)
  const marked = `${own.slice(0, SLUG_CHARS_MAX - MARK_CHARS - 1).replace(/-+$/, '')}-${randomText(MARK_CHARS).toLowerCase()}`
  const made = await insert(marked)
  if (made === undefined) throw refuse('slug_taken', 'No free slug was found for this name. Send a slug.')
  return made
}
