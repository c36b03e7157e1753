import { z } from 'zod'
import { idInput, idOutput } from '../ids.ts'
import { DatasetName, ListQuery, listOf, Timestamp } from '../list.ts'
import { defineRoute, READ } from '../route.ts'

export const RecordItem = z.object({
  id: idOutput('record').describe('The event id: the same on every delivery, retry and replay.'),
  dataset: z.string(),
  submission_id: idOutput('submission'),
  received_at: Timestamp,
  data: z.unknown(),
})

export const records = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'records',
    summary: 'List records',
    description: 'The records (events) of the project, newest first, of one dataset or of all.',
    ...READ,
    status: 200,
    query: ListQuery.extend({ dataset: DatasetName.optional() }),
    output: listOf('records', RecordItem),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'records/{id}',
    summary: 'Get a record',
    description: 'One record. `data_text` is its payload letter by letter, for numbers that JSON readers round.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('record') }),
    output: z.object({ record: RecordItem.extend({ data_text: z.string() }) }),
  }),
} as const
