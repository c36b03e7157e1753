import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('rejections', {
  list: () => ({ query: { reason: 'endpoint_disabled' } }),
})
