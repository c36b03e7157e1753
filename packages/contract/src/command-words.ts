/** How the command line names the routes. The console uses it too, so it needs no schema. */

/** Words of the command line that differ from those of the code. */
const ROOMS: Readonly<Record<string, string>> = { webhooks: 'endpoints', records: 'events' }
const VERBS: Readonly<Record<string, string>> = {
  remove: 'delete',
  listVersions: 'versions',
  getVersion: 'version',
  'records.listOfWebhook': 'table',
  'workspaces.list': 'mine',
  'webhooks.rotateVerificationSecret': 'rotate-secret',
  'config.export': 'pull',
  'audit.exportCsv': 'export',
}

/** Commands that do more than their route, which needs no other command: they ask, follow, compare, or write a file. */
export const COMMANDS_BY_OTHERS: Readonly<Record<string, string>> = {
  'attempts.get': 'deliveries attempt',
  'config.export': 'config pull',
  'datasetSchemas.get': 'datasets schema',
  'datasetExports.csv': 'datasets export --format csv',
  'datasetExports.ndjson': 'datasets export',
  'datasetExports.parquet': 'datasets export --format parquet',
  'dataExport.create': 'export',
  'dataExport.download': 'export',
  'replays.create': 'deliveries replay',
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The words of the command for a route, such as `ingest-keys` and `create`. */
export function commandWords({
  room,
  verb,
}: {
  readonly room: string
  readonly verb: string
}): readonly [room: string, verb: string] {
  return [ROOMS[room] ?? kebab(room), VERBS[`${room}.${verb}`] ?? VERBS[verb] ?? kebab(verb)]
}
