import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { openKeyFile } from './key-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postroad-key-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const hex = (keys: readonly Buffer[]): readonly string[] => keys.map((key) => key.toString('hex'))

test('the file is created once, with one key of 32 bytes, and only its owner may read it', () => {
  const made = openKeyFile(folder)
  assert.deepEqual([made.keys().length, made.keys()[0].length, statSync(made.path).mode & 0o777], [1, 32, 0o600])
  assert.deepEqual(hex(openKeyFile(folder).keys()), hex(made.keys()))
  assert.deepEqual(readdirSync(folder), ['secret-key'])
})

test('processes that start together agree on one key', () => {
  const module = JSON.stringify(new URL('./key-file.ts', import.meta.url).href)
  const script = `import(${module}).then(({ openKeyFile }) => console.log(openKeyFile(${JSON.stringify(folder)}).keys()[0].toString('hex')))`
  const all = Array.from({ length: 4 }, () => `node -e ${JSON.stringify(script).replaceAll('$', '\\$')} &`).join(' ')
  const said = execFileSync('sh', ['-c', `${all} wait`], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env['PATH']}` },
  })
    .trim()
    .split('\n')
  assert.deepEqual([said.length, new Set(said).size], [4, 1])
})

test('a process that has the file open sees its replacement, and a half-written file is removed', () => {
  const [one, other] = [openKeyFile(folder), openKeyFile(folder)]
  const [old] = one.keys()
  const fresh = randomBytes(32)
  writeFileSync(join(folder, 'secret-key.0123456789ab.new'), 'half')
  one.replace([fresh, old])
  assert.deepEqual(hex(other.keys()), hex([fresh, old]))
  assert.equal(other.keys(), other.keys(), 'the file is read again only when it has changed')
  assert.deepEqual([readdirSync(folder), statSync(one.path).mode & 0o777], [['secret-key'], 0o600])
  one.replace([fresh])
  assert.deepEqual(hex(other.keys()), hex([fresh]))
})

test('a file without a valid key is refused with one line that contains the remedy', () => {
  for (const text of ['', 'c2hvcnQ=\n', `${randomBytes(32).toString('base64')}\nc2hvcnQ=\n`]) {
    writeFileSync(join(folder, 'secret-key'), text)
    assert.throws(() => openKeyFile(folder), {
      name: 'StartError',
      message: /secret-key does not contain 32 bytes in base64 on each line\. Restore it from a backup/,
    })
    assert.equal(readFileSync(join(folder, 'secret-key'), 'utf8'), text)
  }
})
