import { z } from 'zod'
import { idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { SYSTEM_DATASET, SYSTEM_DATASET_RULE } from './system-dataset.ts'

/** The query of every list: newest first, and `cursor` from the previous response. */
export const ListQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.listLimitMax)
    .default(LIMITS.listLimitDefault)
    .describe(`The maximum number of items, 1 to ${LIMITS.listLimitMax}.`),
  cursor: z.string().max(200).optional().describe('`next_cursor` of the previous page.'),
})

/** A time in a request, parsed to a Date. */
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z; write the + of an offset as %2B' })
  .transform((text) => new Date(text))

/** The time range of a list of events, compared with the time in their ids: `from` is inclusive, `to` is exclusive. */
export const TimeRange = {
  from: Instant.optional().describe('RFC 3339: only items from this time or later.'),
  to: Instant.optional().describe('RFC 3339: only items from before this time.'),
}

/** `{"<plural>": […], "next_cursor": string | null}` */
export function listOf<const Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key widens to string; the key is `name`
  const items = { [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>
  return z.object({ ...items, next_cursor: z.string().nullable() })
}

export const Timestamp = z.string().describe('RFC 3339, UTC, milliseconds')
/** A text that PostgreSQL can store, because it has no U+0000. Every text of a request is one (storable.test.ts). */
export const storable = <Schema extends { regex(pattern: RegExp, rule: string): Schema }>(schema: Schema): Schema =>
  schema.regex(/^[^\0]*$/, 'may not contain the character U+0000')
/** Text that a person writes. */
export const Text = storable(z.string())
export const Name = Text.trim().min(1).max(LIMITS.nameCharsMax)
/** An email address as a person types it; upper and lower case are the same account. */
export const Email = z.string().trim().max(LIMITS.emailCharsMax).pipe(z.email('must be an email address'))
export const Deleted = z.object({ ok: z.literal(true) })
/** The response to a deletion that can be undone. */
export const DeletedForNow = Deleted.extend({
  deletion: z
    .object({ id: idOutput('deletion'), restorable_until: Timestamp })
    .describe('Restores the deleted resource: POST deletions/{id}/restore.'),
})

/** Workspace, project and webhook slugs. */
export const Slug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be 1 to 63 lower-case letters, digits or dashes, with no dash at either end',
  )

/** Dataset names (decisions on names), in the only form that ingest accepts. */
export const DATASET_NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/
export const DatasetName = z
  .string()
  .regex(DATASET_NAME, 'must start with a letter, followed by up to 62 letters, digits or underscores')
/** The name of a dataset that a setting or a request may file events into. */
export const WritableDatasetName = DatasetName.refine((name) => name !== SYSTEM_DATASET, SYSTEM_DATASET_RULE)
