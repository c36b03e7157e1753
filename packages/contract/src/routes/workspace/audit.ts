import { z } from 'zod'
import { Chunks } from '../../chunks.ts'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE } from '../../route.ts'

const { auditFilterCharsMax, auditDaysMin } = LIMITS

const Hash = z.string().describe('SHA-256, 64 hexadecimal digits.')

export const AuditRow = z.object({
  id: idOutput('audit'),
  at: Timestamp,
  actor: z.string().describe('The member who did it (usr_…), or `system`.'),
  agent: z.string().nullable().describe('What they did it through, such as `api_key:key_…`; null: the console.'),
  action: z.string().describe('Verb and noun, such as `create_api_key`.'),
  target: z.string().nullable().describe('The id of what was changed.'),
  ip: z.string().nullable().describe('Where the request came from.'),
  details: z
    .record(z.string(), z.unknown())
    .describe('What else a reader needs. Never a secret, a URL slug or a payload.'),
  prev_hash: Hash.nullable().describe('The hash of the row before; null in the first row of the workspace.'),
  hash: Hash.describe('SHA-256 over the hash of the row before and this row.'),
})

const MISFITS = ['changed', 'missing', 'reordered', 'added', 'cut_off', 'rewritten', 'unanchored'] as const
export type Misfit = (typeof MISFITS)[number]

export const Verification = z.object({
  ok: z.boolean(),
  count: z.int().describe('How many rows were read and fit, from the oldest on.'),
  removed: z.int().describe('How many older rows were removed because their retention had expired.'),
  oldest: z.object({ id: idOutput('audit'), at: Timestamp }).nullable(),
  newest: z
    .object({ id: idOutput('audit'), at: Timestamp, hash: Hash })
    .nullable()
    .describe('The last row that fits. If you record its hash elsewhere, the hash proves all rows up to it.'),
  problem: z
    .object({
      kind: z
        .enum(MISFITS)
        .describe(
          '`changed`: its content is not what was written. `missing`: rows before it are gone. `reordered`: it is not where it was written. ' +
            '`added`: it was not written by Postroad. `cut_off`: the newest rows, up to this one, are gone. `rewritten`: the chain fits in itself but is not the one that was written. ' +
            '`unanchored`: the sealed note of where the chain ends was lost before this row was written, so that rows before it may be missing.',
        ),
      id: idOutput('audit').nullable().describe('The first row that does not fit; null: no row has the recorded hash.'),
      at: Timestamp.nullable(),
      text: z.string().describe('One sentence: what is wrong, and what to do.'),
    })
    .nullable()
    .describe('null: everything fits.'),
})

const Exact = Text.min(1).max(auditFilterCharsMax).optional()

const filters = {
  actor: Exact.describe('Only what this member did (usr_…), or `system`.'),
  agent: Exact.describe('Only what was done through this, such as `api_key:key_…`.'),
  action: Exact.describe('Only this action, such as `create_api_key`.'),
  target: Exact.describe('Only what was done to this, by its id.'),
  ...TimeRange,
}

const ADMINS_READ = { ...MANAGE, whileSuspended: 'read' } as const

export const audit = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'audit',
    summary: 'List the audit log',
    description: `Who changed what, when and from where, newest first. Each row is written in the transaction of its change, and retained for at least ${auditDaysMin} days.`,
    ...ADMINS_READ,
    status: 200,
    query: ListQuery.extend(filters),
    output: listOf('audit', AuditRow),
  }),
  exportCsv: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'audit.csv',
    summary: 'Export the audit log as CSV',
    description:
      'The same rows as a file (RFC 4180), newest first, all of them that the filters let through. A text that a spreadsheet would take for a formula has an apostrophe before it.',
    ...ADMINS_READ,
    status: 200,
    download: { type: 'text/csv; charset=utf-8', name: 'audit.csv' },
    query: z.object(filters),
    output: Chunks,
  }),
  verify: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'audit/verify',
    summary: 'Verify the audit log',
    description:
      'Reads every row of the workspace and checks that each continues the one before, from the oldest retained row to the newest one. ' +
      'Says the first row that does not fit. With `hash`, a hash of `newest` that you recorded before must still be the hash of a row, ' +
      'which also shows that the database was put back to an older state.',
    ...ADMINS_READ,
    status: 200,
    query: z.object({
      hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be the 64 hexadecimal digits of a recorded hash')
        .optional()
        .describe('A hash that you recorded from `newest` before.'),
    }),
    output: Verification,
  }),
} as const
