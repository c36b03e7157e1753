/** pg-boss, set for throughput: several fetchers of batches that never wait for a poll, and no scheduled jobs. */
import { setTimeout as sleep } from 'node:timers/promises'
import PgBoss from 'pg-boss'
import { answer } from '../child.ts'
import { envelopeOf } from '../payload.ts'
import { createPost } from './post.ts'
import type { RivalVerbs } from './verbs.ts'

const QUEUE = 'deliver'
const FETCHERS = 4
let boss: PgBoss | undefined
let ending = false
let fetchers: Promise<void>[] = []

async function open({ connectionString }: { connectionString: string }): Promise<void> {
  boss = new PgBoss({ connectionString, supervise: false, schedule: false, max: 10 })
  await boss.start()
  await boss.createQueue(QUEUE)
}

async function fill({ count }: { count: number }): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const jobs = Array.from({ length: Math.min(1_000, count - from) }, (_unused, index) => ({
      name: QUEUE,
      data: envelopeOf(from + index),
    }))
    // oxlint-disable-next-line no-await-in-loop -- a thousand at a time
    await boss?.insert(jobs)
  }
}

function work({ port, concurrency }: { port: number; concurrency: number }): Promise<void> {
  const post = createPost(port, concurrency)
  const working = boss
  ending = false
  if (working !== undefined)
    fetchers = Array.from({ length: FETCHERS }, () => fetchOn(working, { post, batchSize: concurrency / FETCHERS }))
  return Promise.resolve()
}

/** The handlers of a batch run concurrently. The next batch is fetched while the last one is completed. */
async function fetchOn(
  working: PgBoss,
  { post, batchSize }: { post: (payload: unknown) => Promise<void>; batchSize: number },
): Promise<void> {
  let completed: Promise<unknown> = Promise.resolve()
  // oxlint-disable-next-line no-unmodified-loop-condition -- `end` sets it
  while (!ending) {
    // oxlint-disable-next-line no-await-in-loop -- a loop of fetches
    const jobs = await working.fetch(QUEUE, { batchSize, priority: false })
    // oxlint-disable-next-line no-await-in-loop -- as above
    await Promise.all(jobs.map((job) => post(job.data)))
    // oxlint-disable-next-line no-await-in-loop -- at most one is under way
    await completed
    const ids = jobs.map((job) => job.id)
    if (ids.length > 0) completed = working.complete(QUEUE, ids)
    // oxlint-disable-next-line no-await-in-loop -- the queue is empty, so it need not be polled a thousand times a second
    else await sleep(10)
  }
  await completed
}

async function end(): Promise<void> {
  ending = true
  await Promise.all(fetchers)
  await boss?.stop({ graceful: false, wait: true })
  boss = undefined
}

answer({ open, fill, work, end } satisfies RivalVerbs)
