/** Many seeds on many cores. Blocks are assigned in order, so that the first of all broken seeds is found. */
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { play, sum, type Block, type Played } from './play.ts'

const BLOCK_SEEDS = 500

export async function playInJobs(whole: Block, jobs: number): Promise<Played> {
  let total: Played = { seeds: 0, simulatedMs: 0, totals: {}, broken: null }
  let next = whole.from
  const end = whole.from + whole.seeds
  const take = (): Block | undefined => {
    if (next >= end || total.broken !== null) return undefined
    const block = { ...whole, from: next, seeds: Math.min(BLOCK_SEEDS, end - next) }
    next += block.seeds
    return block
  }
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL(import.meta.url))
    for (let block = take(); block !== undefined; block = take()) {
      // oxlint-disable-next-line no-await-in-loop -- one block at a time for each worker
      const played = await ask(worker, block)
      total = sum(total, played)
    }
    await worker.terminate()
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return total
}

function ask(worker: Worker, block: Block): Promise<Played> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (played: Played) => {
      worker.off('error', reject)
      resolve(played)
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(block)
  })
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- as above
if (!isMainThread) parentPort?.on('message', (block: Block) => parentPort?.postMessage(play(block)))
