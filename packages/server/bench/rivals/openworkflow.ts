/** OpenWorkflow: runs are rows that workers claim, and each step commits its result. */
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import type { Pool } from 'pg'
import { answer } from '../child.ts'
import { insertStep, makeStepTable, STEPS } from './engine-table.ts'
import { urlBehind, type EngineVerbs } from './engine-verbs.ts'

const STARTS_AT_ONCE = 20
let pool: Pool
let engine: OpenWorkflow
let startFive: (workflow: number) => Promise<unknown>
let startWaiting: () => Promise<unknown>

async function inParallel(count: number, start: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const some = async (): Promise<void> => {
    while (next < count) {
      next += 1
      // oxlint-disable-next-line no-await-in-loop -- as many at once as there are callers of this
      await start(next)
    }
  }
  await Promise.all(Array.from({ length: STARTS_AT_ONCE }, some))
}

const verbs: EngineVerbs = {
  open: async ({ target }) => {
    const connectionString = urlBehind(target)
    pool = await makeStepTable(connectionString)
    engine = new OpenWorkflow({ backend: await BackendPostgres.connect(connectionString) })
    const five = engine.defineWorkflow<{ workflow: number }, void>({ name: 'five' }, async ({ input, step }) => {
      for (let at = 0; at < STEPS; at += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one step after the other
        await step.run({ name: `step_${at}` }, () => insertStep(pool, { workflow: input.workflow, step: at }))
      }
    })
    const waiting = engine.defineWorkflow({ name: 'waiting' }, async ({ step }) => step.sleep('wait', '1h'))
    startFive = (workflow) => five.run({ workflow })
    startWaiting = () => waiting.run()
  },
  fill: ({ count }) => inParallel(count, startFive),
  fillWaiting: ({ count }) => inParallel(count, startWaiting),
  work: ({ concurrency }) => engine.newWorker({ concurrency }).start(),
}
answer(verbs)
