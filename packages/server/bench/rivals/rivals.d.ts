/** The parts of the rivals that the bench calls. Only a bench installs them, so a check cannot read their types. */

declare module 'graphile-worker' {
  export const Logger: new (factory: () => () => undefined) => object
  export type Runner = { stop(): Promise<void> }
  type WorkerUtils = {
    migrate(): Promise<void>
    release(): Promise<void>
    addJobs(jobs: readonly { readonly identifier: string; readonly payload: unknown }[]): Promise<unknown>
  }
  export function makeWorkerUtils(options: { connectionString: string; logger: object }): Promise<WorkerUtils>
  export function run(options: {
    noHandleSignals: boolean
    taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>
    preset: { worker: Readonly<Record<string, unknown>> }
  }): Promise<Runner>
}

declare module 'pg-boss' {
  export default class PgBoss {
    constructor(options: { connectionString: string; supervise: boolean; schedule: boolean; max: number })
    start(): Promise<unknown>
    createQueue(name: string): Promise<void>
    insert(jobs: readonly { readonly name: string; readonly data: unknown }[]): Promise<void>
    fetch(
      name: string,
      options: { batchSize: number; priority: boolean },
    ): Promise<readonly { readonly id: string; readonly data: unknown }[]>
    complete(name: string, ids: readonly string[]): Promise<unknown>
    stop(options: { graceful: boolean; wait: boolean }): Promise<void>
  }
}

declare module 'openworkflow/postgres' {
  export const BackendPostgres: { connect(url: string): Promise<object> }
}

declare module 'openworkflow' {
  type Step = {
    run(options: { name: string }, work: () => Promise<unknown>): Promise<unknown>
    sleep(name: string, duration: string): Promise<void>
  }
  type Workflow<Input> = { run(input?: Input): Promise<unknown> }
  export class OpenWorkflow {
    constructor(options: { backend: object })
    defineWorkflow<Input, Output = unknown>(
      spec: { name: string },
      work: (context: { input: Input; step: Step }) => Promise<Output>,
    ): Workflow<Input>
    newWorker(options: { concurrency: number }): { start(): Promise<void> }
  }
}

declare module '@dbos-inc/dbos-sdk' {
  export const DBOS: {
    registerWorkflow<Args extends readonly unknown[]>(
      work: (...args: Args) => Promise<void>,
      options: { name: string },
    ): (...args: Args) => Promise<void>
    startWorkflow<Args extends readonly unknown[]>(
      workflow: (...args: Args) => Promise<void>,
    ): (...args: Args) => Promise<unknown>
    runStep(work: () => Promise<unknown>, options: { name: string }): Promise<unknown>
    recv(topic: string, timeoutSeconds: number): Promise<unknown>
    setConfig(options: Readonly<Record<string, unknown>>): void
    launch(): Promise<void>
  }
}
