import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openDatabase, sql, texts } from '../../src/platform/db.ts'
import { aDatabase } from '../stage/harness.ts'

test('a list of texts arrives in the database byte for byte, and a null stays null', async () => {
  const own = await aDatabase()
  const database = openDatabase({
    target: own.target,
    connectionsMax: 1,
    applicationName: 'test',
    statementTimeoutMs: 60_000,
  })
  try {
    const stored = async (items: readonly (string | null)[]) => {
      const { kept } = await database.one<{ kept: (string | null)[] }>(sql`select to_json(${texts(items)}) as kept`)
      return kept
    }
    const hard = ['', null, '"', '\\', '{}', ',', 'null', 'NULL', '\n', '.', '-', '{"a": "b\\n\\"", "ü": "🙂"}']
    await Promise.all(
      [[], [''], [null], [null, null], [null, ''], ['', ''], hard, hard.toReversed()].map(async (items) => {
        assert.deepEqual(await stored(items), items)
      }),
    )
    const item = fc.option(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')))
    await fc.assert(fc.asyncProperty(fc.array(item), async (items) => assert.deepEqual(await stored(items), items)))
  } finally {
    await database.close()
    await own.drop()
  }
})
