import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const { ok, json, remote } = onServer()
before(async () => {
  for (const n of [1, 2, 3])
    // oxlint-disable-next-line no-await-in-loop -- in this order
    await ok(['send', '--data', JSON.stringify({ n, buyer: { name: `Buyer ${n}` } })])
})

const found = async (...words: string[]): Promise<number[]> =>
  (await json(['search', 'events', ...words])).records.map(({ data }: { data: { n: number } }) => data.n)

test('search events takes conditions in the form of the API, each with a flag', async () => {
  assert.deepEqual(await found('--q', 'buyer 2'), [2])
  assert.deepEqual(await found('--f', 'n:gte:2'), [3, 2])
  assert.deepEqual(await found('--f', 'n:gte:2', '--f', 'buyer.name:contains:3'), [3])
  assert.deepEqual(await found('--header', 'content-type:contains:json', '--f', 'n:equals:1'), [1])
  assert.deepEqual(await found('--q', 'application/json', '--in', 'headers', '--f', 'n:equals:1'), [1])
  assert.deepEqual(await found('--query', 'tenant:exists'), [])
  assert.match(await ok(['search', 'events', '--f', 'n:equals:3']), /^Id .*\nrec_[^]*\nScanned: \d+\. Read: \d+\.\n$/)
  assert.match(await ok(['search', 'events', '--q', 'nobody']), /^Nothing was found\.\nScanned: \d+\. Read: \d+\.\n$/)
})

test('search events refuses a condition in another form, and shows the right form', async () => {
  refused(await run(['search', 'events', '--f', 'n=3'], remote()), { code: 1, stderr: /f: .*<path>:<op>:<value>/s })
})
