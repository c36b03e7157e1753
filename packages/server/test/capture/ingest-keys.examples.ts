import { created } from '../stage/admin-asking.ts'
import { aName } from '../stage/fixtures.ts'
import { anIngestKeyIn, withBody, withId } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('ingestKeys', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made') } }),
  get: anIngestKeyIn,
  update: (at) => withBody(anIngestKeyIn(at), { enabled: false, require_signature: true }),
  rotateSigningSecret: async (at) => ({
    ...withId((await created(at, 'ingest-keys', { require_signature: true })).ingest_key.id),
    body: { overlap_hours: 1 },
  }),
  remove: anIngestKeyIn,
})
