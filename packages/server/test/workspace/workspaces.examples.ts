import { aName } from '../stage/fixtures.ts'
import { aClosed, aSwitch, aClosing } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('workspaces', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made') } }),
  switch: aSwitch,
  get: () => ({}),
  update: () => ({ body: { name: aName('renamed') } }),
  close: aClosing,
  reopen: aClosed,
})
