import type { Room } from '../../verbs.ts'
import { ssoRequests } from '../sso-requests/index.ts'

export const sso: Room<'sso'> = {
  get: async (ctx) => {
    const { requests } = await ssoRequests.list(ctx, { limit: 1, cursor: undefined })
    return {
      sso: { identity_provider: ctx.oidc === undefined ? null : { name: ctx.oidc.name }, request: requests[0] ?? null },
    }
  },
}
