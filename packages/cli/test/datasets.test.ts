import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { run, runAtTerminal } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, json, remote } = stage
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postroad-datasets-'))
  for (const n of [1, 2]) {
    const body = JSON.stringify({ n, buyer: { name: `Buyer ${n}` } })
    // oxlint-disable-next-line no-await-in-loop -- in this order
    await ok(['send', '--data', body])
  }
})
after(() => rm(folder, { recursive: true, force: true }))

test('datasets schema shows each field with its types and how often it is present', async () => {
  const text = await ok(['datasets', 'schema', 'events'])
  assert.match(text, /^Field +Types +Present/)
  assert.match(text, /\nbuyer\.name +string +\d+(?:\.\d)? %/)
  assert.match(text, /From \d+ records\.\n$/)
  await stage.client.datasets.create({ name: 'unused' })
  assert.match(await ok(['datasets', 'schema', 'unused']), /^This dataset has no records yet/)
})

test('datasets export writes records to stdout for a program, and a file in one piece', async () => {
  const lines = (await ok(['datasets', 'export', 'events'])).trimEnd().split('\n')
  assert.deepEqual(
    lines.slice(-2).map((line) => JSON.parse(line).data.n),
    [1, 2],
  )
  const csv = await ok(['datasets', 'export', 'events', '--format', 'csv', '--columns', 'n,buyer.name'])
  assert.match(csv, /^"_id","_received_at","n","buyer\.name"\r\n/)
  const file = join(folder, 'events.parquet')
  const saved = await json(['datasets', 'export', 'events', '--format', 'parquet', '--output', file])
  const bytes = await readFile(file)
  assert.deepEqual([saved.bytes, bytes.subarray(0, 4).toString()], [bytes.length, 'PAR1'])
  assert.equal(bytes.subarray(-4).toString(), 'PAR1')
  assert.deepEqual(await readdir(folder), ['events.parquet'])
  refused(await run(['datasets', 'export', 'events', '--output', file], remote()), {
    code: 1,
    stderr: /already exists/,
  })
})

test('datasets export refuses a file that it cannot write, and names the remedy', async () => {
  refused(await runAtTerminal(['datasets', 'export', 'events', '--format', 'parquet'], remote()), {
    code: 2,
    stderr: /Name a file with --output/,
  })
  refused(await run(['datasets', 'export', 'events', '--columns', 'n'], remote()), {
    code: 2,
    stderr: /--columns works only with csv and parquet/,
  })
  refused(await run(['datasets', 'export', 'nowhere'], remote()), {
    code: 4,
    stderr: /There is no dataset "nowhere" here\. See postroad datasets list\./,
  })
})
