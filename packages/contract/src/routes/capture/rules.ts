import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { DryRun, DryRunOn } from '../../dry-run.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DeletedForNow, ListQuery, listOf, Name, Timestamp, WritableDatasetName } from '../../list.ts'
import { Mappings } from '../../mapping.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const Rule = z.object({
  id: idOutput('rule'),
  name: z.string(),
  dataset: z.string(),
  enabled: z.boolean(),
  conditions: Conditions,
  mappings: Mappings,
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('rule') })
const one = z.object({ rule: Rule })

export const rules = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'rules',
    summary: 'List rules',
    description:
      'The mapping rules of the project, newest first. They run only for POST /v1/ingest/{ingest_key} without a dataset.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('rules', Rule),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'rules',
    summary: 'Create a rule',
    description:
      'Creates a rule. Each matching rule writes a separate record. An empty list of conditions matches everything.',
    ...WRITE,
    status: 201,
    body: z.strictObject({
      name: Name,
      dataset: WritableDatasetName,
      enabled: z.boolean().default(true),
      conditions: Conditions.default([]),
      mappings: Mappings.default([]),
    }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'rules/{id}',
    summary: 'Get a rule',
    description: 'One rule of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'rules/{id}',
    summary: 'Change a rule',
    description: 'Updates only the fields that you send. Takes effect on every node within a second.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      dataset: WritableDatasetName.optional(),
      enabled: z.boolean().optional(),
      conditions: Conditions.optional(),
      mappings: Mappings.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'rules/{id}',
    summary: 'Delete a rule',
    description: 'Deletes the rule. Records that it filed are not deleted.',
    ...WRITE,
    status: 200,
    params: at,
    output: DeletedForNow,
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'rules/test',
    summary: 'Test conditions and mappings',
    description:
      'Reports the result that conditions and mappings, saved or not, would have for payloads: for those sent here, for the newest stored ones that reached the rules, ' +
      'or for both. Only POST /v1/ingest/{ingest_key} without a dataset reaches the rules. The call does not store anything, so any role can use it, even in a suspended workspace. ' +
      `It looks for stored payloads among the newest ${LIMITS.dryRunScannedMax.toLocaleString('en')} requests of the project and reads at most 16 MiB of them.`,
    ...READ,
    status: 200,
    body: z.strictObject({
      rule_id: idInput('rule').optional().describe('A saved rule; other members that you send replace its settings.'),
      conditions: Conditions.optional(),
      mappings: Mappings.optional(),
      ...DryRunOn,
    }),
    output: DryRun,
  }),
} as const
