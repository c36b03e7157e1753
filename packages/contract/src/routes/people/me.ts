import { z } from 'zod'
import { idOutput } from '../../ids.ts'
import { defineRoute, READ, ROLES, SCOPES } from '../../route.ts'

export const me = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'me',
    summary: 'Get the caller',
    description: 'The user of the credential, with the role and the workspace.',
    ...READ,
    forOneProjectKeys: true,
    status: 200,
    output: z.object({
      user: z.object({ id: idOutput('user'), name: z.string(), email: z.string().nullable() }),
      role: z.enum(ROLES),
      operator: z.boolean().describe('true: this person is an operator of the installation. Always false for a key.'),
      workspace: z.object({
        id: idOutput('workspace'),
        slug: z.string(),
        name: z.string(),
        suspended: z.boolean(),
        suspended_reason: z
          .string()
          .nullable()
          .describe('The reason that the operator gave. null: it is not suspended.'),
        support_contact: z
          .string()
          .nullable()
          .describe('The contact for questions about the suspension. null: none is set.'),
        closed: z.boolean(),
      }),
      default_project: z.object({ id: idOutput('project'), slug: z.string() }),
      agent: z
        .object({
          id: idOutput('connectedAgent'),
          scopes: z.array(z.enum(SCOPES)),
          manage_url: z.string().describe('The page where the person widens, narrows or revokes it.'),
        })
        .optional()
        .describe('Present for a connected agent.'),
      api_key: z.object({ id: idOutput('apiKey'), project_id: idOutput('project').nullable() }).optional(),
    }),
  }),
} as const
