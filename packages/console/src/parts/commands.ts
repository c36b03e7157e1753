import { curlCommand } from '@postroad/contract/quoting'
import type { Project } from '../data/place.ts'

type Call = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly project: Project
  readonly path: string
  readonly body?: unknown
}

/** A call of the admin API as a command for a terminal; the key comes from the environment, as for the CLI. */
export function adminCurl({ method = 'GET', project, path, body }: Call): string {
  const json = body === undefined ? undefined : JSON.stringify(body)
  return curlCommand({
    url: `${location.origin}/admin/api/projects/${project.id}/${path}`,
    method,
    headers: {
      Authorization: ['Bearer ', { variable: 'SERVICE_TOKEN' }],
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: json,
  })
}

export function cli(words: string): string {
  return `npm run postroad -- ${words}`
}
