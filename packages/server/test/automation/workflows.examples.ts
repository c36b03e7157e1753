import { aName } from '../stage/fixtures.ts'
import { withBody, anEventIn } from '../stage/example-resources.ts'
import { aWorkflowIn, DEFINITION, FOLLOW_UP } from '../stage/example-workflows.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('workflows', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made'), ...DEFINITION } }),
  get: aWorkflowIn,
  replace: (at) => withBody(aWorkflowIn(at), { name: aName('replaced'), ...DEFINITION }),
  update: (at) => withBody(aWorkflowIn(at), { name: aName('replaced'), ...DEFINITION, active: false }),
  remove: aWorkflowIn,
  listVersions: aWorkflowIn,
  getVersion: async (at) => {
    const { params } = await aWorkflowIn(at)
    return { params: { ...params, version: '1' } }
  },
  run: async (at) => withBody(aWorkflowIn(at), { record_id: (await anEventIn(at)).records[0].id }),
  dryRun: () => ({ body: { steps: FOLLOW_UP, payload: { id: 'canary-payload' } } }),
})
