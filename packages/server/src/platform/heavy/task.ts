/**
 * A pure function that a thread can run: its input and its output are copied between threads, so they have no functions and
 * no numbers that are stored as their source. Bytes in the output are moved.
 */
export type Task<Input, Output> = {
  readonly name: string
  readonly run: (input: Input) => Output | Promise<Output>
}

export function task<Input, Output>(name: string, run: Task<Input, Output>['run']): Task<Input, Output> {
  return { name, run }
}

/** The tasks of a process, by their names. A thread looks up the task that a message names. */
// oxlint-disable-next-line typescript/no-explicit-any -- the types of tasks differ, and `Heavy.run` checks them
export type Tasks = readonly Task<any, any>[]
