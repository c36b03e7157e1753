import { aName } from '../stage/fixtures.ts'
import { withBody } from '../stage/example-resources.ts'
import { aTransformIn, TRANSFORM_CODE } from '../stage/example-transforms.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('transforms', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made'), code: TRANSFORM_CODE } }),
  get: aTransformIn,
  update: (at) => withBody(aTransformIn(at), { name: aName('renamed'), code: `${TRANSFORM_CODE}\n` }),
  remove: aTransformIn,
  listVersions: aTransformIn,
  getVersion: async (at) => {
    const { params } = await aTransformIn(at)
    return { params: { ...params, version: '1' } }
  },
  test: () => ({ body: { code: TRANSFORM_CODE, payload: { id: 'canary-payload' } } }),
})
