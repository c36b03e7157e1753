import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { hashOf, otherInputs, SERVER, unchanged, type Input } from './inputs.ts'

/**
 * The bundles, each in a folder that nothing changes: a server imports parts of its bundle long after its start. `bundle.json`
 * names the newest one and the files from which it was made.
 */
const DIST = join(SERVER, 'dist')
const RECORD = join(DIST, 'bundle.json')
/** Servers that still run have one of these. */
const RETAINED = 5

type Recorded = { readonly folder: string; readonly inputs: readonly Input[] }

/** The program of the newest bundle, if it was made from the files as they are now. */
export function freshBundle(): string | undefined {
  const recorded = readRecord()
  const program = recorded && programIn(recorded.folder)
  if (recorded === undefined || program === undefined || !existsSync(program)) return undefined
  const inputs = unchanged(recorded.inputs)
  if (inputs === undefined) return undefined
  if (inputs.some((input, index) => input !== recorded.inputs[index])) remember({ ...recorded, inputs })
  return program
}

/** Makes a new bundle and returns its program. Concurrent builds of the same files have the same result. */
export async function makeBundle(): Promise<string> {
  mkdirSync(DIST, { recursive: true })
  const made = mkdtempSync(join(DIST, '.made-'))
  try {
    // A start that finds a fresh bundle needs no build tool.
    const { bundleServer } = await import('./bundle.ts')
    const inputs = [...otherInputs(), ...(await bundleServer(made))]
    const folder = nameOf(inputs)
    if (!existsSync(programIn(folder))) renameSync(made, join(DIST, folder))
    writeRecord({ folder, inputs })
    removeOld(folder)
    return programIn(folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** The same contents have the same name. */
function nameOf(inputs: readonly Input[]): string {
  const lines = inputs.map(({ path, hash }) => `${path} ${hash}`).toSorted((a, b) => (a < b ? -1 : 1))
  return hashOf(Buffer.from(lines.join('\n'))).slice(0, 16)
}

const programIn = (folder: string): string => join(DIST, folder, 'main.js')

function readRecord(): Recorded | undefined {
  if (!existsSync(RECORD)) return undefined
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8'))
  } catch {
    // Half of a record, after a power loss.
    return undefined
  }
}

function writeRecord(recorded: Recorded): void {
  const beside = `${RECORD}.${process.pid}`
  writeFileSync(
    beside,
    JSON.stringify({
      ...recorded,
      inputs: recorded.inputs.map(({ stat: { size, mtimeMs, ctimeMs, ino }, ...rest }) => ({
        ...rest,
        stat: { size, mtimeMs, ctimeMs, ino },
      })),
    }),
  )
  renameSync(beside, RECORD)
}

/** After a copy or a checkout, the contents are the same and the attributes are not. */
function remember(recorded: Recorded): void {
  try {
    writeRecord(recorded)
  } catch {
    // The installation is read-only, so each start reads the files again.
  }
}

function removeOld(newest: string): void {
  const folders = readdirSync(DIST, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{16}$/.test(entry.name) && entry.name !== newest)
    .map(({ name }) => ({ folder: join(DIST, name), madeMs: statSync(join(DIST, name)).mtimeMs }))
    .toSorted((a, b) => b.madeMs - a.madeMs)
  for (const { folder } of folders.slice(RETAINED - 1)) rmSync(folder, { recursive: true, force: true })
}
