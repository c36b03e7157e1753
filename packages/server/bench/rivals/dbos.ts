/** DBOS: a workflow is a function, and each step commits its result. Starts are part of its work, because it runs what it starts. */
import { DBOS } from '@dbos-inc/dbos-sdk'
import type { Pool } from 'pg'
import { answer } from '../child.ts'
import { insertStep, makeStepTable, STEPS } from './engine-table.ts'
import { urlBehind, type EngineVerbs } from './engine-verbs.ts'

const WAIT_SECONDS = 3_600
let pool: Pool
let count = 0

const five = DBOS.registerWorkflow(
  async (workflow: number) => {
    for (let step = 0; step < STEPS; step += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      await DBOS.runStep(() => insertStep(pool, { workflow, step }), { name: `step_${step}` })
    }
  },
  { name: 'five' },
)
const waiting = DBOS.registerWorkflow(async () => void (await DBOS.recv('reply', WAIT_SECONDS)), { name: 'waiting' })

const verbs: EngineVerbs = {
  open: async ({ target }) => {
    const connectionString = urlBehind(target)
    pool = await makeStepTable(connectionString)
    DBOS.setConfig({
      name: 'bench',
      // DBOS requires a host in the URL, but uses the one in the query.
      systemDatabaseUrl: `postgres://${target.username}@localhost/${target.database}?host=${encodeURIComponent(target.host)}&port=${target.port}`,
      systemDatabasePoolSize: 20,
      logLevel: 'error',
    })
    await DBOS.launch()
  },
  fill: async (input) => {
    count = input.count
  },
  fillWaiting: async (input) => {
    for (let at = 0; at < input.count; at += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one start after the other
      await DBOS.startWorkflow(waiting)()
    }
  },
  work: async ({ concurrency }) => {
    let next = 0
    const runSome = async (): Promise<void> => {
      while (next < count) {
        next += 1
        // oxlint-disable-next-line no-await-in-loop -- as many at once as there are callers of this
        await five(next)
      }
    }
    void Promise.all(Array.from({ length: concurrency }, runSome))
  },
}
answer(verbs)
