import { encodeId } from '@postroad/contract'
import { aCustomer } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('billing', {
  get: () => ({}),
  checkout: (at) => ({ target: encodeId('workspace', at.workspaceId), body: { plan: 'team' } }),
  openPortal: aCustomer,
})
