/** The requests that each rival of the workflow engine answers. It has a separate database, on the server that Postroad runs. */
export type EngineVerbs = {
  open(input: { connectionString: string }): Promise<void>
  /** Starts workflows of five steps, each of which inserts one row. They need not run yet. */
  fill(input: { count: number }): Promise<void>
  /** Starts workflows that wait for an hour, and resolves when all of them wait. */
  fillWaiting(input: { count: number }): Promise<void>
  /** Runs everything, at most `concurrency` workflows at once. */
  work(input: { concurrency: number }): Promise<void>
}
