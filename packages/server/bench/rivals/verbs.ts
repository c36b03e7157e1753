/** What each rival can be asked. It works in a database of its own, in the server that Postroad runs. */
export type RivalVerbs = {
  open(input: { connectionString: string }): Promise<void>
  fill(input: { count: number }): Promise<void>
  /** Begins to send what was filled in, at most `concurrency` requests at once. */
  work(input: { port: number; concurrency: number }): Promise<void>
  /** Ends the work; everything that was done is settled. */
  end(input: null): Promise<void>
}
