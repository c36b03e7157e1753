import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { run, runProcess } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, json, quiet, local, remote } = stage

const exportsAsked = async (): Promise<number> =>
  (await stage.client.audit.list({ action: 'create_data_export' })).audit.length

test('export writes a workspace into a file, resumes an interrupted download, and does not download a complete file again', async () => {
  const output = join(stage.folder.path, 'export.zip')
  const { data_export, file } = await json(['export', '--output', output])
  assert.deepEqual([data_export.state, file], ['ready', output])
  const whole = await readFile(output)
  assert.equal(createHash('sha256').update(whole).digest('hex'), data_export.file.sha256)
  const again = join(stage.folder.path, 'again.zip')
  await writeFile(`${again}.${data_export.id}.part`, whole.subarray(0, 100))
  assert.match(await ok(['export', '--id', data_export.id, '--output', again]), /^Export +exp_/)
  assert.ok((await readFile(again)).equals(whole))
  const { stderr, code } = await run(['export', '--id', data_export.id, '--output', again], remote())
  assert.deepEqual([code, stderr], [1, `postroad: ${again} already exists. Name another file with --output.\n`])
  const had = await exportsAsked()
  for (const nowhere of ['nowhere', 'export.zip'])
    refused(await run(['export', '--output', join(stage.folder.path, nowhere, 'x.zip')], remote()), {
      code: 2,
      stderr: /^postroad: The folder \S+ does not exist\. Create it, or name another file with --output\.\n$/,
    })
  refused(await run(['export', '--output', again], remote()), { code: 1, stderr: /already exists/ })
  assert.deepEqual([had > 0, await exportsAsked()], [true, had], 'the command requests no export that it cannot write')
  const damaged = join(stage.folder.path, 'damaged.zip')
  await writeFile(`${damaged}.${data_export.id}.part`, Buffer.alloc(100))
  assert.match(
    (await run(['export', '--id', data_export.id, '--output', damaged], remote())).stderr,
    /differs from the file on the server/,
  )
})

test('the audit commands list the log with filters, export it as CSV and as JSON lines, and verify it', async () => {
  const made = await stage.client.webhooks.create({ name: 'Audited' })
  const target = made.webhook.id
  assert.match(
    await ok(['audit', 'list', '--target', target]),
    /^When \(UTC\) .*Action .*Target .*\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}create_webhook {2}whk_/,
  )
  const { audit: rows } = await stage.client.audit.list({ target })
  assert.deepEqual((await json(['audit', 'list', '--target', target])).audit, rows)
  assert.equal(await quiet(['audit', 'list', '--action', 'create_webhook', '--target', target]), rows[0]?.id)
  assert.equal(await ok(['audit', 'list', '--to', '2001-01-01T00:00:00Z']), 'No changes match the filters.\n')
  const csv = (await run(['audit', 'export', '--target', target], remote())).stdout.split('\r\n')
  assert.deepEqual([csv.length, csv[0]?.split(',')[0], csv[1]?.split(',')[0]], [3, '"id"', `"${rows[0]?.id}"`])
  assert.deepEqual(JSON.parse(await ok(['audit', 'export', '--target', target, '--json'])), rows[0])
  assert.deepEqual(await json(['audit', 'verify']), await stage.client.audit.verify())
  assert.match(await ok(['audit', 'verify']), /^Audit log {2}every row is intact\nRead {7}\d+ rows\n/)
  const gone = await run(['audit', 'verify', '--hash', '0'.repeat(64), '--json'], remote())
  assert.deepEqual(
    [gone.code, JSON.parse(gone.stdout).problem.kind, /No row has the recorded hash/.test(gone.stderr)],
    [1, 'rewritten', true],
  )
  assert.equal(await ok(['audit', 'list', '--target', target, '--to', '1h']), 'No changes match the filters.\n')
  for (const option of ['--from', '--to'])
    refused(await run(['audit', 'export', option, 'yesterday'], remote()), {
      code: 2,
      stderr: /is invalid\. The value must be a time such as .*, or a span before now such as 30m, 6h or 2d\.\n/,
    })
})

test('doctor reports to people and to programs', async () => {
  const people = await runProcess(['doctor'], local())
  assert.deepEqual([people.code, people.stderr], [0, ''])
  assert.match(people.stdout, /^(ok {4}.{1,74}\n)+(task {2}.{1,74}\n)+$/)
  assert.equal(JSON.parse((await runProcess(['doctor', '--json'], local())).stdout).ok, true)
  assert.match((await runProcess(['bootstrap'], local())).stdout, /API key +hk_/)
})

test('a command for the operator creates no database where none exists', async () => {
  const nowhere = { DATA_DIR: join(stage.folder.path, 'nowhere') }
  for (const args of [['doctor'], ['rotate-key'], ['workspaces', 'list']])
    refused(await runProcess(args, nowhere), {
      code: 1,
      stderr:
        /^postroad: There is no database in \S+nowhere\. Set DATA_DIR to the folder of the server, or DATABASE_URL\.\n$/,
    })
  assert.equal(existsSync(nowhere.DATA_DIR), false)
})
