/** The requests that each rival answers. It has its own database, on the server that Postroad runs. */
export type RivalVerbs = {
  open(input: { connectionString: string }): Promise<void>
  fill(input: { count: number }): Promise<void>
  /** Starts to send the filled jobs, at most `concurrency` requests at a time. */
  work(input: { port: number; concurrency: number }): Promise<void>
  /** Stops the work. All finished jobs are settled. */
  end(input: null): Promise<void>
}
