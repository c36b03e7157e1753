import { aDeliveredIn, aWaitingIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('deliveries', {
  list: () => ({ query: { state: 'delivered' } }),
  get: aDeliveredIn,
  replay: aDeliveredIn,
  retry: aWaitingIn,
  cancel: aWaitingIn,
})
