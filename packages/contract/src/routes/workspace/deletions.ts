import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

/** The kinds of resources whose deletion can be undone. */
export const RESTORABLE_KINDS = ['webhook', 'rule', 'destination', 'workflow', 'transform'] as const
export type RestorableKind = (typeof RESTORABLE_KINDS)[number]

const Kind = z.enum(RESTORABLE_KINDS)
const HOURS = LIMITS.deletionRetentionMs / 3_600_000

export const Deletion = z.object({
  id: idOutput('deletion'),
  kind: Kind,
  resource_id: z.string().describe('The id of the deleted resource, which it has again after it is restored.'),
  name: z.string(),
  deleted_at: Timestamp,
  restorable_until: Timestamp,
  actor: z.string().describe('The member who deleted it (usr_…), or `system`.'),
  agent: z
    .string()
    .nullable()
    .describe('The agent that deleted it, such as `api_key:key_…`; null: a person in the console.'),
})

export const deletions = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'deletions',
    summary: 'List deleted resources',
    description: `The endpoints, rules, destinations, workflows and transforms that were deleted in the last ${HOURS} hours and can be restored, newest first. Postroad retains the newest ${LIMITS.deletionsPerProjectMax.toLocaleString('en-US')} of a project.`,
    ...READ,
    status: 200,
    query: ListQuery.extend({ kind: Kind.optional().describe('Only deletions of this kind.') }),
    output: listOf('deletions', Deletion),
  }),
  restore: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'deletions/{id}/restore',
    summary: 'Restore a deleted resource',
    description:
      'Restores the resource as it was: the same id, settings, URL, signing secret and credentials. An endpoint has its versions and record views again. ' +
      'A destination sends the deliveries that its deletion canceled. Workflow instances that the deletion canceled stay canceled. ' +
      'It is refused when another resource has the name or the slug now.',
    ...WRITE,
    status: 200,
    params: z.object({ id: idInput('deletion') }),
    output: z.object({ restored: z.object({ kind: Kind, id: z.string(), name: z.string() }) }),
  }),
} as const
