import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { packCluster, unpackCluster } from './packed.ts'

/** A folder for one test. */
function folderFor(t: { after(end: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-packed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const names = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()

test('an unpacked cluster has the same folders and files, which only its owner can read', async (t) => {
  const [from, to] = [folderFor(t), folderFor(t)]
  mkdirSync(join(from, 'base/1'), { recursive: true })
  mkdirSync(join(from, 'pg_replslot'))
  writeFileSync(join(from, 'PG_VERSION'), '18\n')
  writeFileSync(join(from, 'base/1/empty'), '')
  writeFileSync(join(from, 'base/1/large'), Buffer.alloc(3_500_000, 'postroad'))
  await unpackCluster(packCluster(from), to)
  assert.deepEqual(names(to), names(from))
  for (const name of ['PG_VERSION', 'base/1/empty', 'base/1/large']) {
    assert.ok(readFileSync(join(to, name)).equals(readFileSync(join(from, name))), name)
    assert.equal(statSync(join(to, name)).mode & 0o777, 0o600)
  }
  assert.equal(statSync(join(to, 'pg_replslot')).mode & 0o777, 0o700)
})

test('a packed cluster that was cut off is refused', async (t) => {
  const [from, to] = [folderFor(t), folderFor(t)]
  writeFileSync(join(from, 'PG_VERSION'), '18\n')
  const packed = packCluster(from)
  await assert.rejects(unpackCluster(packed.subarray(0, -4), to))
})
