import { aName } from '../stage/fixtures.ts'
import { aCronTriggerIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('cronTriggers', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made'), expression: '0 9 * * *', dataset: 'ticks' } }),
  preview: () => ({ body: { expression: '0 9 * * *', time_zone: 'Europe/Berlin' } }),
  get: aCronTriggerIn,
  update: (at) => withBody(aCronTriggerIn(at), { enabled: false }),
  run: aCronTriggerIn,
  remove: aCronTriggerIn,
})
