import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLog, readLog, trimLog } from './log-file.ts'
import { placeOf } from './place.ts'

test('the log stays small while PostgreSQL has it open, and the latest lines are still found', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'postroad-test-'))
  t.after(() => {
    rmSync(dataDir, { recursive: true })
  })
  const place = { ...placeOf(dataDir), account: undefined }
  const writer = openLog(place)
  writeSync(writer, 'x'.repeat(9 * 1024 * 1024))
  const from = statSync(place.logFile).size
  trimLog(place.logFile)
  writeSync(writer, 'after\n')
  closeSync(writer)
  assert.equal(statSync(place.logFile).size, 6)
  assert.equal(statSync(`${place.logFile}.1`).size, from)
  assert.equal(readLog(place.logFile, from), 'after\n')
})

test('the server does not write the log through a link that someone put in its place', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'postroad-test-'))
  t.after(() => {
    rmSync(dataDir, { recursive: true })
  })
  writeFileSync(join(dataDir, 'other'), '')
  symlinkSync(join(dataDir, 'other'), join(dataDir, 'postgres.log'))
  assert.throws(() => openLog({ ...placeOf(dataDir), account: undefined }), { code: 'ELOOP' })
})
