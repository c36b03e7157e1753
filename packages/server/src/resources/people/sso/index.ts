import type { Room } from '../../verbs.ts'
import { newestSsoRequest } from '../sso-requests/index.ts'

export const sso: Room<'sso'> = {
  get: async (ctx) => ({
    sso: {
      identity_provider: ctx.oidc === undefined ? null : { name: ctx.oidc.name },
      request: await newestSsoRequest(ctx),
    },
  }),
}
