import type { Ctx } from '../context.ts'
import { refuse } from '../domain/refusal.ts'
import { slugFrom } from '../domain/slug.ts'

const MARK_CHARS = 6
const SLUG_CHARS_MAX = 63

export type FreeSlugOptions<Row> = {
  /** The requested slug; undefined: one is made from the name. */
  readonly slug: string | undefined
  readonly name: string
  /** The slug for a name without any character that a slug may have. */
  readonly fallback: string
  /** Returns undefined when the slug is taken or reserved. */
  readonly insert: (slug: string) => Promise<Row | undefined>
  /** The sentence when the requested slug is taken; the default sentence mentions a project. */
  readonly taken?: string
}

/** Inserts under the requested slug. Without one, it makes a slug from the name, with a random suffix if that is taken. */
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
  if (made === undefined) throw refuse('slug_taken', 'Postroad found no free slug for this name. Send a slug.')
  return made
}
