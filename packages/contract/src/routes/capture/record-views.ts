import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Name, Text, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const SORT_DIRS = ['asc', 'desc'] as const

/**
 * A column of the records listing: the dot path of a flattened payload, or one of the meta columns `_id`, `_received_at` and
 * `_source`. A top-level key of a payload with such a name is written `\_id`, `\_received_at` or `\_source`.
 */
export const RecordColumn = z.object({ key: z.string(), label: z.string() })

const Key = Text.max(LIMITS.columnKeyCharsMax)

export const Columns = z
  .array(z.strictObject({ key: Key, label: Name.optional().describe('Absent: the key.') }))
  .min(1)
  .max(LIMITS.viewColumnsMax)
  .refine((columns) => new Set(columns.map(({ key }) => key)).size === columns.length, 'must name each key once')
  .transform((columns) => columns.map(({ key, label }) => ({ key, label: label ?? key })))
  .describe(`1 to ${LIMITS.viewColumnsMax} columns, each key once.`)

const SortKey = Key.nullable().describe('The key of any column; null: newest first, whatever sort_dir is.')
const SortDir = z.enum(SORT_DIRS)
const IsDefault = z
  .boolean()
  .describe(
    'true: the console opens this view first. An endpoint has at most one such view, the last one that was set.',
  )

export const RecordView = z.object({
  id: idOutput('recordView'),
  webhook_id: idOutput('webhook'),
  name: z.string(),
  columns: z.array(RecordColumn),
  sort_key: z.string().nullable(),
  sort_dir: z.enum(SORT_DIRS),
  is_default: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const of = z.object({ id: idInput('webhook') })
const at = z.object({ id: idInput('webhook'), view_id: idInput('recordView') })
const one = z.object({ view: RecordView })

export const recordViews = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/views',
    summary: 'List record views',
    description: 'The record views of an endpoint, newest first.',
    ...READ,
    status: 200,
    params: of,
    query: ListQuery,
    output: listOf('views', RecordView),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/views',
    summary: 'Create a record view',
    description:
      'A selection of columns and a sort order for the records of an endpoint. The name must be unique among the views of the endpoint.',
    ...WRITE,
    status: 201,
    params: of,
    body: z.strictObject({
      name: Name,
      columns: Columns,
      sort_key: SortKey.default(null),
      sort_dir: SortDir.default('asc'),
      is_default: IsDefault.default(false),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/views/{view_id}',
    summary: 'Get a record view',
    description: 'One record view of an endpoint.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'webhooks/{id}/views/{view_id}',
    summary: 'Change a record view',
    description: 'Updates only the fields that you send.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      columns: Columns.optional(),
      sort_key: SortKey.optional(),
      sort_dir: SortDir.optional(),
      is_default: IsDefault.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'webhooks/{id}/views/{view_id}',
    summary: 'Delete a record view',
    description: 'Deletes the view. Records are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
