import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DeletedForNow, ListQuery, listOf, Name, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { Code, Language, TRANSFORM_FAULTS } from '../../transform.ts'

export const Transform = z.object({
  id: idOutput('transform'),
  name: z.string(),
  language: Language,
  version: z.int().describe('The number of the current version.'),
  used_by: z
    .array(z.object({ kind: z.literal('destination'), id: z.string(), name: z.string() }))
    .describe('The resources that run it.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const VersionItem = z.object({ version: z.int(), language: Language, created_at: Timestamp })
export const TransformVersion = VersionItem.extend({ code: z.string() })
const WithCode = Transform.extend({ code: z.string() })

export const TransformTest = z.object({
  ok: z.boolean(),
  result: z
    .unknown()
    .describe('What `transform` returned; null: nothing would be sent, or `error` says why there is none.'),
  before: z.unknown().describe('The event that `transform` got.'),
  changes: z
    .array(
      z.object({
        path: z.string().describe('A JSON pointer into the event and the result.'),
        before: z.unknown().optional(),
        after: z.unknown().optional(),
      }),
    )
    .describe(`The differences between the body before and the body after, at most ${LIMITS.transformChangesMax}.`),
  lines: z.array(z.string()).describe('What console.log wrote, at most 100 lines.'),
  lines_dropped: z.int(),
  time_us: z.int().describe('The time of the run in microseconds, without the compilation.'),
  steps: z.int().describe(`The share of the budget of steps that it used, of ${LIMITS.transformStepsMax}.`),
  error: z
    .object({
      kind: z.enum(TRANSFORM_FAULTS),
      message: z.string(),
      line: z.int().nullable().describe('The line of the code, from 1.'),
      column: z.int().nullable(),
    })
    .nullable(),
})
export type TransformTest = z.infer<typeof TransformTest>

const at = z.object({ id: idInput('transform') })
const one = z.object({ transform: WithCode })

export const transforms = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'transforms',
    summary: 'List transforms',
    description: 'The transforms of the project, newest first, without their code.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('transforms', Transform),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'transforms',
    summary: 'Create a transform',
    description:
      'Code with a function `transform(event)` that returns the event with another `body` and `headers`, or null to send nothing. It runs in a sandbox without access to anything. A destination names it in `transform_id`. ' +
      `A project has at most ${LIMITS.transformsPerProjectMax} transforms.`,
    ...WRITE,
    status: 201,
    body: z.strictObject({ name: Name, language: Language.default('js'), code: Code }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'transforms/{id}',
    summary: 'Get a transform',
    description: 'One transform with the code of its current version.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'transforms/{id}',
    summary: 'Change a transform',
    description:
      'Code makes a new version, which is current at once. `version` makes an older version current again. Takes effect from the next attempt on, also for replays.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      language: Language.optional().describe('Of the code that is sent; absent: that of the current version.'),
      code: Code.optional(),
      version: z.int().min(1).optional().describe('A version to make current. Do not combine it with code.'),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'transforms/{id}',
    summary: 'Delete a transform',
    description: 'Deletes the transform with its versions. It is refused while a destination runs it.',
    ...WRITE,
    status: 200,
    params: at,
    output: DeletedForNow,
  }),
  listVersions: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'transforms/{id}/versions',
    summary: 'List the versions of a transform',
    description: `The versions, newest first. A version never changes. The newest ${LIMITS.transformVersionsMax} and the current one are retained.`,
    ...READ,
    status: 200,
    params: at,
    query: ListQuery,
    output: listOf('versions', VersionItem),
  }),
  getVersion: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'transforms/{id}/versions/{version}',
    summary: 'Get a version of a transform',
    description: 'One version with its code.',
    ...READ,
    status: 200,
    params: at.extend({ version: z.coerce.number().pipe(z.int().min(1).max(2_147_483_647)) }),
    output: z.object({ version: TransformVersion }),
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'transforms/test',
    summary: 'Test a transform',
    description:
      'Runs code, saved or not, on a stored record or on a payload, as a destination would. Nothing is sent or stored, so any role can use it, even in a suspended workspace.',
    ...READ,
    status: 200,
    body: z.strictObject({
      transform_id: idInput('transform')
        .optional()
        .describe('A saved transform; code that you send replaces its code.'),
      language: Language.optional(),
      code: Code.optional(),
      record_id: idInput('record').optional().describe('A stored record to test with.'),
      payload: z.unknown().optional().describe('The payload to test with. Send this or record_id.'),
      body: z.enum(['envelope', 'data']).default('envelope').describe('The body of the destination.'),
    }),
    output: TransformTest,
  }),
} as const
