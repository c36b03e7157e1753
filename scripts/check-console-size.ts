import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/**
 * The first load of the console is a promise: the entry, the code for Events, and no chunk so large that a person has
 * to wait for it. Sizes are gzip, in thousands of bytes. The script first builds the console when the build does not
 * match these sources.
 */
const MAX_KB = { entry: 120, events: 230, piece: 140 } as const
const DIST = 'packages/console/dist'
const EVENTS = 'src/screens/events/screen.tsx'

type Chunk = {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}

execFileSync(process.execPath, ['packages/console/build/main.ts'], { stdio: 'inherit' })
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the build just now
const manifest = JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>

function filesOf(name: string, seen: Set<string>): Set<string> {
  const chunk = manifest[name]
  if (chunk === undefined || seen.has(chunk.file)) return seen
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file)
  for (const imported of chunk.imports ?? []) filesOf(imported, seen)
  return seen
}

const kb = (file: string): number => gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length / 1_000
const sum = (files: Iterable<string>): number => [...files].reduce((total, file) => total + kb(file), 0)

const entry = filesOf('index.html', new Set())
const scripts = [...entry].filter((file) => file.endsWith('.js'))
const events = filesOf(EVENTS, new Set(entry))
const pieces = Object.values(manifest)
  .map(({ file }) => file)
  .filter((file) => file.endsWith('.js') && statSync(join(DIST, file)).size > 0)
const largest = pieces.toSorted((a, b) => kb(b) - kb(a))[0] ?? ''

const measured = [
  { what: 'the entry', kb: sum(scripts), max: MAX_KB.entry },
  { what: 'the first load of Events', kb: sum(events), max: MAX_KB.events },
  { what: `the largest piece, ${largest}`, kb: kb(largest), max: MAX_KB.piece },
]
for (const one of measured) console.log(`${one.kb.toFixed(1)} of ${one.max} kB  ${one.what}`)
const over = measured.filter((one) => one.kb > one.max)
for (const one of over)
  console.error(`${one.what} is ${one.kb.toFixed(1)} kB, more than ${one.max} kB. Load rarely used code later.`)
process.exitCode = over.length === 0 ? 0 : 1
