import type { About } from '../../about.ts'
import type { network } from './network.ts'

export const about = {
  text: 'The addresses that can use the workspace.',
  refusals: { update: ['own_address_missing'] },
} satisfies About<typeof network>
