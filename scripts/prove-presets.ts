import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MORE_LIBRARIES } from './preset-libraries-more.ts'
import { LIBRARIES, type Proof } from './preset-libraries.ts'

/**
 * Checks the proofs of the source presets with the libraries of their providers: `node scripts/prove-presets.ts FOLDER`.
 * FOLDER has them in its node_modules; `by` of each proof names package and version. They are no dependencies, because
 * fifty libraries are not needed to test what their requests prove.
 */

const PUBLIC = 'https://hooks.example.com'
const proofs = new URL('../packages/verify/presets/proofs/', import.meta.url)
const folders = process.argv.slice(2).filter((word) => !word.startsWith('--'))
if (folders.length === 0) throw new Error('Name the folder that has the libraries in its node_modules.')

async function load(name: string): Promise<unknown> {
  for (const folder of folders) {
    const file = fileOf(resolve(folder), name)
    // oxlint-disable-next-line no-await-in-loop -- the first folder that has it
    if (file !== undefined) return moduleOf(await import(pathToFileURL(file).href))
  }
  throw new Error(`${name} is in none of these folders`)
}

function fileOf(folder: string, name: string): string | undefined {
  const within = resolve(folder, 'node_modules', name)
  // A file that the package does not export.
  if (name.endsWith('.js')) return existsSync(within) ? within : undefined
  try {
    return createRequire(resolve(folder, 'package.json')).resolve(name)
  } catch {
    // A package of ECMAScript modules alone.
    const manifest = resolve(folder, 'node_modules', name, 'package.json')
    return existsSync(manifest)
      ? resolve(manifest, '..', entryOf(JSON.parse(readFileSync(manifest, 'utf8'))))
      : undefined
  }
}

type Entry = string | { readonly [condition: string]: Entry }

function entryOf({ exports, main = 'index.js' }: { exports?: Entry; main?: string }): string {
  const pick = (entry: Entry): string => {
    if (typeof entry === 'string') return entry
    const next = entry['.'] ?? entry['node'] ?? entry['import'] ?? entry['default']
    return next === undefined ? main : pick(next)
  }
  return exports === undefined ? main : pick(exports)
}

/** A CommonJS module has its members behind `default`. */
function moduleOf(loaded: Readonly<Record<string, unknown>>): unknown {
  const whole = loaded['default']
  const isAlone = Object.keys(loaded).every((key) => /^(?:default|module\.exports)$/.test(key))
  if (isAlone && whole !== undefined) return whole
  return typeof whole === 'object' ? { ...loaded, ...whole } : loaded
}

/** A library sees the time of the proof while it checks it. */
async function at<Result>(seconds: number | undefined, work: () => Promise<Result>): Promise<Result> {
  const real = Date
  if (seconds === undefined) return work()
  const now = (): number => seconds * 1_000
  globalThis.Date = new Proxy(real, {
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
  })
  try {
    return await work()
  } finally {
    globalThis.Date = real
  }
}

let failed = 0
for (const file of readdirSync(proofs)) {
  const id = file.replace('.json', '')
  const check = LIBRARIES[id] ?? MORE_LIBRARIES[id]
  if (check === undefined) continue
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the files of the proofs
  const proof = JSON.parse(readFileSync(new URL(file, proofs), 'utf8')) as Proof & { readonly now?: number }
  const lower = Object.fromEntries(Object.entries(proof.headers).map(([name, value]) => [name.toLowerCase(), value]))
  const header = (name: string): string => lower[name] ?? ''
  const url = PUBLIC + (proof.path ?? `/${id}`)
  try {
    // oxlint-disable-next-line no-await-in-loop -- they share the clock
    const said = await at(proof.now, async () =>
      check({ ...proof, of: load, lower, header, url, bytes: Buffer.from(proof.body) }),
    )
    if (said === false) throw new Error('the library refused it')
    console.log(`ok      ${id}`)
  } catch (error) {
    failed += 1
    console.log(`FAILED  ${id}: ${String(error).split('\n')[0]}`)
  }
}
process.exitCode = failed === 0 ? 0 : 1
