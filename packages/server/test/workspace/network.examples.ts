import { encodeId } from '@postroad/contract'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('network', {
  get: () => ({}),
  update: (at) => ({
    target: encodeId('workspace', at.workspaceId),
    body: { ip_allowlist: ['127.0.0.0/8', '::1', '203.0.113.0/24'] },
  }),
})
