import { anExportIn, withoutDataExports } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('dataExport', {
  list: () => ({}),
  create: withoutDataExports,
  get: anExportIn,
  remove: anExportIn,
  download: anExportIn,
})
