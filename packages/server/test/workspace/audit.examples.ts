import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('audit', {
  list: () => ({ query: { action: 'create_ingest_key' } }),
  exportCsv: () => ({ query: { action: 'create_webhook' } }),
  verify: () => ({}),
})
