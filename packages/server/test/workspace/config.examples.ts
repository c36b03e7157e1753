import { aName } from '../stage/fixtures.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('config', {
  export: () => ({}),
  plan: () => ({
    body: {
      config: {
        version: 1,
        rules: [{ name: aName('planned'), dataset: 'routed', conditions: [{ path: 'a', equals: 1 }] }],
      },
    },
  }),
  // Nothing to do: the change itself has one audit row.
  apply: ({ project }) => ({ body: { config: { version: 1 } }, target: project }),
})
