import { z } from 'zod'
import { idOutput } from '../../ids.ts'
import { defineRoute, READ, ROLES } from '../../route.ts'

export const me = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'me',
    summary: 'Who am I',
    description: 'The identity behind the credential, its role and its workspace.',
    ...READ,
    forOneProjectKeys: true,
    status: 200,
    output: z.object({
      user: z.object({ id: idOutput('user'), name: z.string(), email: z.string().nullable() }),
      role: z.enum(ROLES),
      workspace: z.object({
        id: idOutput('workspace'),
        slug: z.string(),
        name: z.string(),
        suspended: z.boolean(),
        closed: z.boolean(),
      }),
      default_project: z.object({ id: idOutput('project'), slug: z.string() }),
      api_key: z.object({ id: idOutput('apiKey'), project_id: idOutput('project').nullable() }).optional(),
    }),
  }),
} as const
