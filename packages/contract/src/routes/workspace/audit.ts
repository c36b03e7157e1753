import { z } from 'zod'
import { Chunks } from '../../chunks.ts'
import { idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
import { ADMINS_READ, defineRoute } from '../../route.ts'

const { auditCursorCharsMax, auditFilterCharsMax, auditDaysMin, auditVerifiedRowsMax } = LIMITS

const Hash = z.string().describe('SHA-256, 64 hexadecimal digits.')

export const AuditRow = z.object({
  id: idOutput('audit'),
  at: Timestamp,
  actor: z.string().describe('The member who made the change (usr_…), or `system`.'),
  agent: z
    .string()
    .nullable()
    .describe(
      'The agent of the change, such as `api_key:key_…`; null: the console. `operator`: an operator of the installation made it.',
    ),
  action: z.string().describe('Verb and noun, such as `create_api_key`.'),
  target: z.string().nullable().describe('The id of the changed resource.'),
  ip: z.string().nullable().describe('The IP address of the request.'),
  details: z
    .record(z.string(), z.unknown())
    .describe(
      'Further details. Never a secret, a URL slug or a payload. A change has `before` and `after`: of what was created or deleted all members, ' +
        'otherwise those that differ. The path of a URL is replaced by a fingerprint, and so is a long value.',
    ),
  prev_hash: Hash.nullable().describe('The hash of the previous row; null in the first row of the workspace.'),
  hash: Hash.describe('SHA-256 over the hash of the previous row and this row.'),
})

const MISFITS = ['changed', 'missing', 'reordered', 'added', 'cut_off', 'rewritten', 'unanchored'] as const
export type Misfit = (typeof MISFITS)[number]

export const Verification = z.object({
  ok: z.boolean().describe('true: the whole log was read, and every row is intact.'),
  count: z.int().describe('The number of rows, from the oldest on, that are intact.'),
  removed: z.int().describe('The number of older rows that were removed because their retention had expired.'),
  oldest: z.object({ id: idOutput('audit'), at: Timestamp }).nullable(),
  newest: z
    .object({ id: idOutput('audit'), at: Timestamp, hash: Hash })
    .nullable()
    .describe('The last intact row. If you record its hash elsewhere, the hash proves all rows up to it.'),
  problem: z
    .object({
      kind: z
        .enum(MISFITS)
        .describe(
          '`changed`: the content of the row is not what was written. `missing`: rows before it are gone. `reordered`: the row is not where it was written. ' +
            '`added`: Postroad did not write the row. `cut_off`: the newest rows, up to this one, are gone. `rewritten`: the chain is consistent but is not the one that was written. ' +
            '`unanchored`: the sealed record of the end of the chain was lost before this row was written, so rows before it may be missing.',
        ),
      id: idOutput('audit')
        .nullable()
        .describe('The first row that does not match; null: no row has the recorded hash.'),
      at: Timestamp.nullable(),
      text: z.string().describe('One sentence: the problem and the remedy.'),
    })
    .nullable()
    .describe('null: no row that was read has a problem.'),
  next_cursor: z
    .string()
    .nullable()
    .describe('Not null: more rows follow. Send it as `cursor` to continue. `ok` is false until the last part.'),
})

const Exact = Text.min(1).max(auditFilterCharsMax).optional()

const filters = {
  actor: Exact.describe('Only changes by this member (usr_…), or by `system`.'),
  agent: Exact.describe('Only changes through this agent, such as `api_key:key_…`.'),
  action: Exact.describe('Only this action, such as `create_api_key`.'),
  target: Exact.describe('Only changes to the resource with this id.'),
  ...TimeRange,
}

export const audit = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'audit',
    summary: 'List the audit log',
    description: `Every change with its actor, its time and its IP address, newest first. Each row is written in the transaction of its change and retained for at least ${auditDaysMin} days.`,
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
      'The rows that match the filters as a CSV file (RFC 4180), newest first. Cells that look like formulas get a leading apostrophe.',
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
      `Reads the rows of the workspace, from the oldest retained one to the newest, and checks that each row continues the hash chain. One request reads up to ${auditVerifiedRowsMax.toLocaleString('en')} rows; \`next_cursor\` continues. ` +
      'Reports the first row that does not match. With `hash`, which you recorded from `newest` earlier, the log must still have a row with that hash: ' +
      'this also detects that the database was restored to an older state.',
    ...ADMINS_READ,
    status: 200,
    query: z.object({
      hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be the 64 hexadecimal digits of a recorded hash')
        .optional()
        .describe('A hash that you recorded from `newest` earlier.'),
      cursor: Text.max(auditCursorCharsMax).optional().describe('`next_cursor` of the previous part.'),
    }),
    output: Verification,
  }),
} as const
