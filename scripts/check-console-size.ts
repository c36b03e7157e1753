import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/**
 * The limits, in thousands of bytes as gzip: the entry of the console, the code for Events, the largest chunk, and the
 * page of the customer portals with the script that embeds it. A stale build of the console is built again first.
 */
const MAX_KB = { entry: 120, events: 232, piece: 140, portal: 90, embed: 4 } as const
const DIST = 'packages/console/dist'
const EVENTS = 'src/screens/capture/events/screen.tsx'

type Chunk = {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}
type Manifest = Readonly<Record<string, Chunk>>

execFileSync(process.execPath, ['packages/console/build/main.ts'], { stdio: 'inherit' })
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the build has just written it
const read = (name: string) => JSON.parse(readFileSync(join(DIST, name), 'utf8')) as Manifest
const manifest = read('manifest.json')
const portals = read('portal-manifest.json')

/** The files that a browser loads for an entry or a later piece, without those that it has loaded. */
function filesOf(name: string, { of = manifest, seen = new Set<string>() } = {}): Set<string> {
  const chunk = of[name]
  if (chunk === undefined)
    throw new Error(`The build has no ${name}. Correct its name in scripts/check-console-size.ts.`)
  if (seen.has(chunk.file)) return seen
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file)
  for (const imported of chunk.imports ?? []) filesOf(imported, { of, seen })
  return seen
}

const kb = (file: string): number => gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length / 1_000
const sum = (files: Iterable<string>): number => [...files].reduce((total, file) => total + kb(file), 0)

const entry = filesOf('index.html')
const scripts = [...entry].filter((file) => file.endsWith('.js'))
const events = filesOf(EVENTS, { seen: new Set(entry) })
const portal = filesOf('portal.html', { of: portals })
const embed = filesOf('src/embed/element.ts', { of: portals })
const pieces = [...Object.values(manifest), ...Object.values(portals)]
  .map(({ file }) => file)
  .filter((file) => file.endsWith('.js') && statSync(join(DIST, file)).size > 0)
const largest = pieces.toSorted((a, b) => kb(b) - kb(a))[0] ?? ''

const measured = [
  { what: 'the entry', kb: sum(scripts), max: MAX_KB.entry },
  { what: 'the first load of Events', kb: sum(events), max: MAX_KB.events },
  { what: `the largest piece, ${largest}`, kb: kb(largest), max: MAX_KB.piece },
  { what: 'the page of a portal, with its styles', kb: sum(portal), max: MAX_KB.portal },
  { what: 'the script that embeds a portal', kb: sum(embed), max: MAX_KB.embed },
]
for (const one of measured) console.log(`${one.kb.toFixed(1)} of ${one.max} kB  ${one.what}`)
const over = measured.filter((one) => one.kb > one.max)
for (const one of over)
  console.error(`${one.what} is ${one.kb.toFixed(1)} kB, more than ${one.max} kB. Load rarely used code later.`)
process.exitCode = over.length === 0 ? 0 : 1
