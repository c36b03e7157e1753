import type { Project } from '../data/place.ts'

/** Text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

type Call = { readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'; readonly project: Project; readonly path: string; readonly body?: unknown }

/** A call of the admin API as it can be run from a terminal; the key comes from the environment, as for the CLI. */
export function adminCurl({ method = 'GET', project, path, body }: Call): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(`${location.origin}/admin/api/projects/${project.id}/${path}`)}`,
    '  -H "Authorization: Bearer $SERVICE_TOKEN"',
    ...(body === undefined ? [] : [`  -H 'content-type: application/json'`, `  -d ${shellWord(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n')
}

export function cli(words: string): string {
  return `npm run postroad -- ${words}`
}
