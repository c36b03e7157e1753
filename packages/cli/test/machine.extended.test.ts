import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { run, runProcess } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

/** The commands on the machine of the server, in separate processes that use its database. */
const stage = onServer('alone')
const { ok, json, local, remote } = stage

test('bootstrap on the machine of the server creates a new key after the previous one was revoked', async () => {
  const [{ id, name }] = (await json(['api-keys', 'list'])).api_keys
  assert.equal(name, 'bootstrap')
  assert.match(await ok(['api-keys', 'revoke', id, '--yes']), new RegExp(`^Revoked ${id}\\.`))
  refused(await run(['api-keys', 'list'], remote()), { code: 3, stderr: /was revoked/ })
  await stage.takeKey()
  assert.deepEqual(
    (await json(['api-keys', 'list'])).api_keys.map(({ status }: { status: string }) => status),
    ['active', 'revoked'],
  )
})

test('a command on the machine of the server needs no token', async () => {
  assert.match(
    await ok(['endpoints', 'list'], local()),
    new RegExp(`^first {2}whk_\\w{26}\nFirst endpoint · files into events · open to anyone\n${stage.endpoint}\n$`),
  )
})

test('doctor reports to people and to programs', async () => {
  const people = await runProcess(['doctor'], local())
  assert.deepEqual([people.code, people.stderr], [0, ''])
  assert.match(people.stdout, /^(ok {4}.{1,74}\n)+$/)
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
