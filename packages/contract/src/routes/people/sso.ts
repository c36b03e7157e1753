import { z } from 'zod'
import { defineRoute, MANAGE } from '../../route.ts'
import { SsoRequest } from './sso-requests.ts'

/** The surface answers every request here with 501 and does not read it, because the path has no verb. */
export const SSO_REPLACE_PATH = 'sso/{id}'

export const sso = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'sso',
    summary: 'Get the state of SSO',
    description:
      'The identity provider of the installation, and the newest SSO request of the workspace. A workspace cannot configure an identity provider on this version: `PUT sso/{id}` answers 501 `sso_not_available`.',
    ...MANAGE,
    whileSuspended: 'read',
    status: 200,
    output: z.object({
      sso: z.object({
        identity_provider: z
          .object({ name: z.string() })
          .nullable()
          .describe('The provider that people sign in with on this installation. null: none is configured.'),
        request: SsoRequest.nullable().describe('The newest request for single sign-on. null: there is none.'),
      }),
    }),
  }),
} as const
