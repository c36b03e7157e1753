import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/db.ts'
import { runCommand } from '../stage/command.ts'
import { aWorld } from '../stage/harness.ts'

test('a command beside the server does not change the schema of an older release, and prints the remedy', async (t) => {
  const world = await aWorld({ loops: [] })
  t.after(() => world.stop())
  const { database: db } = world.app.deps
  const ran = async () =>
    (await db.many<{ name: string }>(sql`select name from migrations order by name`)).map(({ name }) => name)
  const newest = (await ran()).at(-1) ?? ''
  await db.run(sql`delete from migrations where name = ${newest}`)
  for (const command of [['doctor'], ['rotate-key'], ['sign-in-link']]) {
    const { code, stdout, stderr } = await runCommand(world, command)
    assert.deepEqual([code, stdout], [1, ''], command[0])
    assert.equal(
      stderr,
      `postroad: This release changes the database (1 migration, from ${newest}), and it has not run. Start the server of this release once, and then repeat the command.\n`,
    )
  }
  assert.equal((await ran()).includes(newest), false)
})

test('migrate runs the migrations that have not run, prints them and ends; without any, it says so', async (t) => {
  const world = await aWorld({ loops: [] })
  t.after(() => world.stop())
  const { database: db } = world.app.deps
  const ran = async () =>
    (await db.many<{ name: string }>(sql`select name from migrations order by name`)).map(({ name }) => name)
  const every = await ran()
  const none = { code: 0, stdout: 'The database is up to date.\n', stderr: '' }
  assert.deepEqual(await runCommand(world, ['migrate']), none)
  assert.deepEqual(await ran(), every)
  await db.run(sql`drop owned by current_user cascade`)
  const { code, stdout } = await runCommand(world, ['migrate', '--json'])
  assert.deepEqual([code, JSON.parse(stdout)], [0, { migrations: every }])
  assert.deepEqual(await ran(), every)
})
