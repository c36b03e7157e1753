import { connect, type Connection } from '../connection.ts'
import { Unavailable } from '../failure.ts'
import { http } from '../http.ts'
import type { ConnectionOptions } from '../options.ts'
import type { Following } from './follow.ts'

export type Source = Pick<Following, 'open' | 'retryable'> & {
  readonly connection: Connection
  readonly projectId: string
}

type Query = {
  /** `request`: each record comes with its request as received, and the stream sends nothing else. */
  readonly detail: 'sender' | 'request'
  readonly since?: string | undefined
  readonly dataset?: readonly string[] | undefined
}

/** The live stream of a project, as the options name the server and the project. */
export async function sourceOf(options: ConnectionOptions, { detail, since, dataset }: Query): Promise<Source> {
  const { refusalIn, ServiceError } = await import('@postroad/sdk')
  let connection = await connect(options)
  const { baseUrl } = connection
  const projectId = connection.project ?? (await connection.client.me.get()).default_project.id
  const ask = async (cursor: string | undefined, signal: AbortSignal): Promise<Response> => {
    const url = new URL(`${baseUrl}/admin/api/projects/${projectId}/stream`)
    url.searchParams.set('detail', detail)
    if (cursor !== undefined) url.searchParams.set('after', cursor)
    else if (since !== undefined) url.searchParams.set('since', since)
    if (dataset !== undefined) url.searchParams.set('dataset', dataset.join(','))
    return http(url, { headers: { ...(await connection.headers()), Accept: 'text/event-stream' }, signal })
  }
  return {
    connection,
    projectId,
    open: async (cursor, signal) => {
      let response = await ask(cursor, signal)
      if (response.status === 401) {
        // The key of this machine expires within an hour, and a new one is free.
        await response.body?.cancel()
        connection = await connect(options)
        response = await ask(cursor, signal)
      }
      if (!response.ok) throw await refusalIn(response)
      return response
    },
    retryable: (error) => {
      // The access token ends within the hour, and its renewal needs the server too.
      if (error instanceof Unavailable) return error.message
      if (error instanceof ServiceError)
        return error.status === 429 || error.status >= 500 || error.status === 0 ? error.message : undefined
      // `fetch` and the reader of its body throw these when a connection fails.
      return error instanceof TypeError || (error instanceof Error && 'code' in error)
        ? `${baseUrl} cannot be reached`
        : undefined
    },
  }
}
