/** The requests that each rival of the workflow engine answers. It has a separate database, on the server that Postroad runs. */
export type EngineVerbs = {
  open(input: { target: SocketTarget }): Promise<void>
  /** Starts workflows of five steps, each of which inserts one row. They need not run yet. */
  fill(input: { count: number }): Promise<void>
  /** Starts workflows that wait for an hour, and resolves when all of them wait. */
  fillWaiting(input: { count: number }): Promise<void>
  /** Runs everything, at most `concurrency` workflows at a time. */
  work(input: { concurrency: number }): Promise<void>
}

/** A database behind a socket. */
export type SocketTarget = {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
}

/** Not every client accepts a socket in a connection string, but all of them read the variables of libpq. */
export function urlBehind({ host, port, database, username }: SocketTarget): string {
  Object.assign(process.env, { PGHOST: host, PGPORT: String(port), PGUSER: username })
  return `postgres:///${database}`
}
