import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behind, statement } from '../stage/fixtures.ts'
import { aWorld } from '../stage/harness.ts'

test('llms.txt answers while the database is away, with the last known state of the registration', async () => {
  const lost = await aWorld({ env: { LOG_LEVEL: 'silent' }, loops: [] })
  try {
    const database = behind(lost)
    await statement(database, 'update platform_settings set agent_registration = false')
    await database.close()
    const known = await (await fetch(`${lost.baseUrl}/llms.txt`)).text()
    assert.match(known, /turned agent registration off/)
    await lost.storage.stop()
    const answers = await Promise.all([1, 2, 3].map(() => fetch(`${lost.baseUrl}/llms.txt`)))
    for (const answer of answers) {
      assert.equal(answer.status, 200)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.equal(await answer.text(), known)
    }
  } finally {
    await lost.stop()
  }
})
