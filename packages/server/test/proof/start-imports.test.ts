import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { test } from 'node:test'

/** A start loads the static imports of the files that it runs. Everything else is imported at its first use (ADR 397). */

const SOURCES = resolve(import.meta.dirname, '../../src')
/** Every start imports these, the last three while PostgreSQL starts and after it. */
const RUN = ['main.ts', 'commands/serve.ts', 'app.ts', 'schema.ts', 'resources/operate/installation/index.ts']

/** The libraries of a start. A library that few processes need is imported by the function that uses it. */
const LIBRARIES = [
  '@ai-sdk/provider',
  '@eslint-community/regexpp',
  '@fastify/busboy',
  '@postroad/contract',
  '@postroad/verify',
  'aws4fetch',
  'croner',
  'eventsource-parser',
  'ipaddr.js',
  'liquidjs',
  'p-limit',
  'pino',
  'sax',
  'undici',
  'zod',
]

const IMPORT = /^(?:import|export)\s+(?!type\b)(?:([^'"`;]*?)\sfrom\s+)?'([^']+)'/gm

/** Whether an import names a value. The compiler removes the others. */
function namesValue(clause: string | undefined): boolean {
  const inside = /^\{([^}]*)\}$/.exec(clause?.trim() ?? '')?.[1]
  if (inside === undefined) return true
  const names = inside.split(',').filter((name) => name.trim() !== '')
  return names.length === 0 || names.some((name) => !name.trim().startsWith('type '))
}

function importsOf(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, clause, from = '']) =>
    namesValue(clause) ? [from] : [],
  )
}

/** The files and the libraries that these files load, each with the file that imports it first. */
function loadedBy(entries: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map(entries.map((name) => [resolve(SOURCES, name), 'the start']))
  for (const file of found.keys()) {
    if (!file.startsWith('/')) continue
    for (const from of importsOf(file)) {
      const target = from.startsWith('.') ? resolve(dirname(file), from) : from
      if (!from.startsWith('node:') && !found.has(target)) found.set(target, relative(SOURCES, file))
    }
  }
  return found
}

const packageOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/')

test('a start loads no library that is not on the list, and every library that is', () => {
  const libraries = [...loadedBy(RUN)].filter(([name]) => !name.startsWith('/'))
  const extra = libraries.filter(([name]) => !LIBRARIES.includes(packageOf(name)))
  assert.deepEqual(
    extra.map(([name, by]) => `${by} imports ${name}`),
    [],
    'import it in the function that uses it: (await import(…))',
  )
  assert.deepEqual([...new Set(libraries.map(([name]) => packageOf(name)))].toSorted(), LIBRARIES)
})

test('a start loads no surface behind the router, and no list of all rooms or routes', () => {
  const files = [...loadedBy(RUN).keys()].filter((name) => name.startsWith('/')).map((file) => relative(SOURCES, file))
  assert.ok(files.length > 300, `only ${files.length} files were found`)
  const behind =
    /^(?:surfaces\/(?:(?!ingest|stream)\w+\/|rout|pages|page|llms)|resources\/index\.ts|domain\/people\/project-access\.ts)/
  assert.deepEqual(
    files.filter((file) => behind.test(file)),
    [],
  )
})

test('the files that start PostgreSQL load before the rest', () => {
  const before = loadedBy(['main.ts', 'commands/serve.ts'])
  assert.ok(before.has(resolve(SOURCES, 'platform/embedded-postgres.ts')))
  for (const later of ['app.ts', 'schema.ts']) assert.ok(!before.has(resolve(SOURCES, later)), `${later} waits`)
  const libraries = new Set([...before.keys()].filter((name) => !name.startsWith('/')).map(packageOf))
  assert.deepEqual([...libraries].toSorted(), ['@postroad/contract', 'pino', 'zod'])
})
