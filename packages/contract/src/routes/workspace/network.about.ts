import type { About } from '../../about.ts'
import type { network } from './network.ts'

export const about = {
  text: 'The addresses that can use the workspace.',
  refusals: { update: ['own_address_missing'] },
  bodies: { update: { ip_allowlist: ['203.0.113.0/24', '2001:db8::/32'] } },
} satisfies About<typeof network>
