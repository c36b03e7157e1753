import type { About } from '../../about.ts'
import type { webhooks } from './webhooks.ts'

export const about = {
  text: 'Endpoints: the URLs that accept events, with their verification, criteria and mappings.',
  refusals: {
    create: ['slug_taken', 'dataset_limit_reached'],
    update: ['slug_taken'],
    restoreVersion: ['slug_taken'],
    signSample: ['invalid_state'],
    verifySample: ['invalid_state'],
    rotate: ['overlap_running'],
    rotateVerificationSecret: ['overlap_running'],
  },
} satisfies About<typeof webhooks>
