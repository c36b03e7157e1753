import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { Deleted, ListQuery, listOf, Name, Slug, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE, READ } from '../../route.ts'

export const Project = z.object({
  id: idOutput('project'),
  slug: z.string(),
  name: z.string(),
  is_default: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('project') })
const one = z.object({ project: Project })

export const projects = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'projects',
    summary: 'List projects',
    description: 'The projects of the workspace, newest first.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('projects', Project),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'projects',
    summary: 'Create a project',
    description:
      'A project has its own endpoints, rules, datasets and destinations. Its slug is part of endpoint URLs.',
    ...MANAGE,
    status: 201,
    body: z.strictObject({ name: Name, slug: Slug.optional().describe('Absent: generated from the name.') }),
    output: one,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'projects/{id}',
    summary: 'Get a project',
    description: 'One project of the workspace.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'workspace',
    path: 'projects/{id}',
    summary: 'Rename a project',
    description: 'Changes the name. The slug stays, because it is part of endpoint URLs.',
    ...MANAGE,
    status: 200,
    params: at,
    body: z.strictObject({ name: Name }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'projects/{id}',
    summary: 'Delete a project',
    description:
      'Stops its endpoints and ingest keys immediately and deletes everything in it. You cannot delete the Default project.',
    ...MANAGE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
