import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aRunOf, asked } from '../stage/ai-stage.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** `search/ai-runs`, by the text and the fields of the output of a run. */
const RUNS = 7
let world: World
let ids: readonly string[]

async function end(database: Database, { id, n }: { id: string; n: number }): Promise<void> {
  const output = n % 3 === 0 ? null : { label: n % 2 === 0 ? 'spam' : 'question', score: n, quote: 'Ärzte "here"' }
  const error = n % 3 === 0 ? { reason: 'provider_failed', error: `The provider returned 50${n}.` } : null
  await database.run(sql`
    update ai_runs
       set state = ${error === null ? 'succeeded' : 'failed'},
           output = ${output === null ? null : JSON.stringify(output)}::json,
           error = ${error === null ? null : JSON.stringify(error)}::json,
           due_at = null,
           ended_at = now()
     where id = ${decodeId('aiRun', id) ?? ''}
  `)
}

onWorldStage(
  async (made) => {
    ;({ world } = made)
    const runs: string[] = []
    for (let n = 0; n < RUNS; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      const id = await aRunOf(world)
      // oxlint-disable-next-line no-await-in-loop -- in order
      await end(made.database, { id, n })
      runs.push(id)
    }
    ids = runs
  },
  { env: { ROLES: 'web' } },
)

/** The numbers of the runs that a search finds, page after page. */
async function found(query: Record<string, string>): Promise<number[]> {
  const numbers: number[] = []
  let cursor: string | null = null
  do {
    const text = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) }).toString()
    // oxlint-disable-next-line no-await-in-loop -- each page follows the previous one
    const page = await asked(world, `GET search/ai-runs?${text}`)
    numbers.push(...page.ai_runs.map(({ id }: { id: string }) => ids.indexOf(id)))
    cursor = page.next_cursor
  } while (cursor !== null)
  return numbers
}

test('a search finds runs by the text of the output and of the error, newest first', async () => {
  assert.deepEqual(await found({ q: 'SPAM' }), [4, 2])
  assert.deepEqual(await found({ q: 'returned 503' }), [3])
  assert.deepEqual(await found({ q: 'ärzte "here"' }), [5, 4, 2, 1])
  assert.deepEqual(await found({ q: 'nothing like it' }), [])
})

test('a search finds runs by the fields of the output and of the error', async () => {
  assert.deepEqual(await found({ f: 'output.label:equals:question' }), [5, 1])
  assert.deepEqual(await found({ f: 'output.score:gte:4' }), [5, 4])
  assert.deepEqual(await found({ f: 'error.reason:exists' }), [6, 3, 0])
  assert.deepEqual(await found({ f: 'output.label:equals:spam', state: 'failed' }), [])
})

test('pages continue where the previous page ended, with and without a filter on the output', async () => {
  for (const query of [{}, { q: 'ärzte' }, { f: 'error.reason:exists' }])
    for (const limit of ['1', '2', '50'])
      // oxlint-disable-next-line no-await-in-loop -- one search after the other
      assert.deepEqual(await found({ ...query, limit }), await found(query))
})

test('an invalid condition is refused with its fault', async () => {
  const { status, body } = await world.admin('GET', 'search/ai-runs?f=output.label:like:x')
  assert.deepEqual([status, body.reason], [400, 'invalid_request'])
  assert.match(body.error, /^f:? /)
})
