import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

/** A thread that also reports every module that it loads. */
const REPORTING = `
  import { registerHooks } from 'node:module'
  import { parentPort } from 'node:worker_threads'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  await import(${JSON.stringify(new URL('thread.ts', import.meta.url))})
  parentPort.postMessage({ loaded })
`

test('a thread loads no schemas when it starts, because they take more memory than all tasks', async () => {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(REPORTING)}`))
  try {
    const loaded = await new Promise<readonly string[]>((resolve, reject) => {
      // The thread itself says first that it is ready.
      const take = (said: { readonly loaded?: readonly string[] }): void => {
        if (said.loaded !== undefined) resolve(said.loaded)
      }
      thread.on('message', take).on('error', reject)
    })
    assert.ok(loaded.some((url) => url.endsWith('/tasks/index.ts')))
    assert.deepEqual(
      loaded.filter((url) => url.includes('/node_modules/zod/')),
      [],
    )
  } finally {
    await thread.terminate()
  }
})
