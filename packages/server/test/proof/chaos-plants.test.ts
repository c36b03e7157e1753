import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertPlanted, NOT_PLANTED, PLANTED } from '../../chaos/planted.ts'

const folder = mkdtempSync(join(tmpdir(), 'postroad-planted-'))
test.after(() => rmSync(folder, { recursive: true }))

function aLog(...lines: readonly object[]): string {
  const file = join(folder, 'server.log')
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

test('a run whose defect was planted counts', () => {
  assert.doesNotThrow(() =>
    assertPlanted('no-caps', aLog({ event: PLANTED, plant: 'no-caps' }, { event: 'server.started' })),
  )
})

test('a run whose defect could not be planted proves nothing, and reports this with the cause', () => {
  const why = 'Error: permission denied for table destinations'
  assert.throws(
    () => assertPlanted('no-caps', aLog({ event: NOT_PLANTED, plant: 'no-caps', why })),
    /no-caps could not be planted, so this run proves nothing\. Error: permission denied/,
  )
})

test('a run whose server does not report a defect proves nothing either', () => {
  assert.throws(
    () => assertPlanted('no-caps', aLog({ event: 'server.started' })),
    /proves nothing\. The server did not say why/,
  )
})
