import { sink } from '../stage/admin-asking.ts'
import { anEventIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('destinationPreviews', {
  make: async (at) => ({
    body: { url: sink.url, record_id: (await anEventIn(at)).records[0].id },
  }),
})
