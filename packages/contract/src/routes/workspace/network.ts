import { z } from 'zod'
import { IpAllowlist } from '../../gates.ts'
import { idOutput } from '../../ids.ts'
import { Timestamp } from '../../list.ts'
import { defineRoute, MANAGE } from '../../route.ts'

export const NetworkAccess = z.object({
  ip_allowlist: z
    .array(z.string())
    .describe('IPv4 and IPv6 addresses and CIDR ranges. Empty: any address can access the workspace.'),
  your_address: z.string().nullable().describe('The address that this request came from. null: it is unknown.'),
  updated_at: Timestamp.nullable().describe('null: nobody has saved a list yet.'),
  updated_by: idOutput('user').nullable().describe('Who saved the list last. null: nobody, or an operator cleared it.'),
})

const one = z.object({ network: NetworkAccess })

export const network = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'settings/network',
    summary: 'Get the network access',
    description: 'The addresses from which the console, API keys and agents may use this workspace.',
    ...MANAGE,
    whileSuspended: 'read',
    status: 200,
    output: one,
  }),
  update: defineRoute({
    method: 'PUT',
    area: 'workspace',
    path: 'settings/network',
    summary: 'Replace the network access',
    description:
      'Every request to the workspace from another address is refused with 403 `ip_not_allowed`, on every node from the next request on, and audited as `access_denied`. ' +
      'The list does not apply to ingest, `/v1/stream`, a person’s own account, or their other workspaces. ' +
      'A list that does not include your address is refused with 400 `own_address_missing`. An operator of the installation can clear the list.',
    ...MANAGE,
    status: 200,
    body: z.strictObject({ ip_allowlist: IpAllowlist }),
    output: one,
  }),
} as const
