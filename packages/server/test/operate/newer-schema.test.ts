import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/db.ts'
import { runCommand } from '../stage/command.ts'
import { aWorld } from '../stage/harness.ts'

test('a server or a command of an older release refuses the database of a newer one in a sentence, and changes nothing', async (t) => {
  const world = await aWorld({ loops: [] })
  t.after(() => world.stop())
  const { database: db } = world.app.deps
  const ran = () => db.many<{ name: string; ran_at: unknown }>(sql`select name, ran_at from migrations order by name`)
  await db.run(sql`insert into migrations (name) values ('9998_later.sql'), ('9999_last.sql')`)
  // The server would have to run this one.
  await db.run(sql`delete from migrations where name = (select min(name) from migrations)`)
  const before = await ran()
  for (const command of ['serve', 'doctor', 'sign-in-link']) {
    // oxlint-disable-next-line no-await-in-loop -- one after another: each must leave the same rows
    const { code, stdout, stderr } = await runCommand(world, [command], { PORT: '0' })
    assert.deepEqual([code, stdout], [1, ''], command)
    assert.match(stderr, /^postroad: The database is of a newer release .*$/m)
    assert.equal(
      stderr.split('\n').findLast((line) => line !== ''),
      'postroad: The database is of a newer release (2 migrations that this one does not have, from 9998_later.sql). Start that release or a newer one, or restore a backup from before the update.',
    )
  }
  assert.deepEqual(await ran(), before)
})
