import { z } from 'zod'
import { DotPath } from './condition.ts'

/** How an endpoint reads the bodies of its requests, and whether it makes several records of one. */

export const BODY_AS = ['contract', 'text', 'xml'] as const

export const BodyAs = z
  .enum(BODY_AS, `The form of the body is one of ${BODY_AS.join(', ')}.`)
  .describe(
    'How a body is read. `contract`: forms by their content type, and everything else as JSON. `text`: the payload is the text of the body. ' +
      '`xml`: the payload is an object; `<a id="1"><b>2</b></a>` becomes {"a":{"@id":"1","b":"2"}}, and a name that repeats is a list.',
  )
export type BodyAs = z.infer<typeof BodyAs>

const WholeList = z.literal('')

export const Split = z
  .union([z.literal('lines'), z.strictObject({ path: z.union([WholeList, DotPath]) })])
  .nullable()
  .describe(
    'Makes each item of a list its own record, with its own criteria, mappings and deliveries. {"path": "data.events"}: the list at this path; {"path": ""}: the payload itself. ' +
      'A value that is not a list is one item, and a payload without the path is one record. "lines": each line is an item (NDJSON), and a line that is not JSON is its text. ' +
      'An idempotency path names a place in each item. null: an event makes one record.',
  )
export type Split = z.infer<typeof Split>

/** In a request, `""` is short for the whole payload. */
export const SplitSetting = z
  .union(
    [
      z.literal('lines'),
      WholeList.transform(() => ({ path: '' as const })),
      z.strictObject({ path: z.union([WholeList, DotPath]) }),
    ],
    {
      error: () =>
        'The split setting is {"path": "events"} with a dot path to a list, {"path": ""} for the whole payload, "lines" for NDJSON, or null.',
    },
  )
  .nullable()
  .describe(Split.description ?? '')
