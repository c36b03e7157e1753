/** graphile-worker, set for throughput as its performance page says: a local queue, and completions one by one or in batches. */
import { Logger, makeWorkerUtils, run, type Runner } from 'graphile-worker'
import { answer } from '../child.ts'
import { envelopeOf } from '../payload.ts'
import { createPost } from './post.ts'
import type { RivalVerbs } from './verbs.ts'

const TASK = 'deliver'
const quiet = new Logger(() => () => undefined)
let connectionString = ''
let runner: Runner | undefined

async function open(input: { connectionString: string }): Promise<void> {
  connectionString = input.connectionString
  const utils = await makeWorkerUtils({ connectionString, logger: quiet })
  await utils.migrate()
  await utils.release()
}

async function fill({ count }: { count: number }): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString, logger: quiet })
  for (let from = 0; from < count; from += 1_000) {
    const jobs = Array.from({ length: Math.min(1_000, count - from) }, (_unused, index) => ({
      identifier: TASK,
      payload: envelopeOf(from + index),
    }))
    // oxlint-disable-next-line no-await-in-loop -- a thousand at a time
    await utils.addJobs(jobs)
  }
  await utils.release()
}

type Work = Parameters<RivalVerbs['work']>[0]

async function work({ port, concurrency }: Work, completion: 'single' | 'batched'): Promise<void> {
  const post = createPost(port, concurrency)
  runner = await run({
    noHandleSignals: true,
    taskList: { [TASK]: (payload) => post(payload) },
    preset: {
      worker: {
        connectionString,
        logger: quiet,
        concurrentJobs: concurrency,
        maxPoolSize: 10,
        localQueue: { size: 5 * concurrency, refetchDelay: { durationMs: 10 } },
        ...(completion === 'batched' ? { completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}),
      },
    },
  })
}

async function end(): Promise<void> {
  await runner?.stop()
  runner = undefined
}

/** Runs as a child of the bench. */
export function answerAsGraphile(completion: 'single' | 'batched'): void {
  answer({ open, fill, work: (input) => work(input, completion), end } satisfies RivalVerbs)
}
