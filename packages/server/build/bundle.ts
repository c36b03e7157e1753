import { readFileSync, statSync } from 'node:fs'
import nodeHttp from 'node:http'
import { join, relative, resolve, sep } from 'node:path'
import { rolldown, type Plugin, type RolldownLog } from 'rolldown'
import { PATCHED_FILES, patchedText } from '../src/platform/driver-patches.ts'
import { hashOf, SERVER, type Input } from './inputs.ts'
import { places } from './places.ts'

/** The files of the bundle that Node runs: the server, and the thread of heavy work. */
const ENTRIES = { main: join(SERVER, 'src/main.ts'), thread: join(SERVER, 'src/tasks/thread.ts') }

const PACKAGES = resolve(SERVER, '..')
const DRIVER = join(SERVER, 'src/platform/driver.ts')

/**
 * Bundles the server with its libraries into a folder below `dist`, and returns its sources as they were read. Parts that few
 * processes need are imported when they are needed, and become separate files.
 */
export async function bundleServer(folder: string, { sourcemap = true } = {}): Promise<readonly Input[]> {
  const inputs: Input[] = []
  await bundle(folder, { entries: ENTRIES, plugins: [sources(inputs), driver(), http(), undici()], sourcemap })
  return inputs
}

type Bundled = {
  readonly entries: Readonly<Record<string, string>>
  readonly plugins?: readonly Plugin[]
  readonly sourcemap?: boolean
}

/** Bundles programs for Node with their libraries. The folder must be as deep below the sources as it will be when they run. */
export async function bundle(folder: string, { entries, plugins = [], sourcemap = false }: Bundled): Promise<void> {
  const made = await rolldown({
    cwd: SERVER,
    input: entries,
    platform: 'node',
    plugins: [...plugins, places({ folder, entries })],
    onLog: ignore,
  })
  try {
    await made.write({
      dir: folder,
      format: 'esm',
      sourcemap,
      // Names stay, for stack traces.
      minify: { compress: true, mangle: false, codegen: true },
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    })
  } finally {
    await made.close()
  }
}

/** Warnings are about libraries. An error rejects. */
function ignore(_level: string, _log: RolldownLog): void {}

/** Reads our sources, and records each of them exactly as it is bundled. */
function sources(inputs: Input[]): Plugin {
  return {
    name: 'sources',
    load: {
      filter: { id: /\.ts$/ },
      handler: (id) => {
        if (!id.startsWith(PACKAGES + sep) || id.includes(`${sep}node_modules${sep}`)) return undefined
        // In this order, so that a file that changes meanwhile differs from its record.
        const stat = statSync(id)
        const bytes = readFileSync(id)
        inputs.push({ path: relative(PACKAGES, id), stat, hash: hashOf(bytes) })
        return { code: bytes.toString(), moduleType: 'ts' }
      },
    },
  }
}

/** The database driver with its patches, which `driver.ts` applies when nothing is bundled. */
function driver(): Plugin {
  let patched = 0
  return {
    name: 'driver',
    transform: {
      filter: { id: /[\\/]driver\.ts$|[\\/]postgres[\\/]src[\\/]\w+\.js$/ },
      handler: (code, id) => {
        if (id === DRIVER) return `export { default as postgres } from 'postgres'`
        const text = patchedText(id, () => code)
        if (text !== undefined) patched += 1
        return text
      },
    },
    buildEnd: (error) => {
      if (error === undefined && patched !== PATCHED_FILES)
        throw new Error(`${patched} of the ${PATCHED_FILES} patched files of the database driver are in the bundle.`)
    },
  }
}

/**
 * An import of `node:http` reads each of its members for the names of the module, and so loads the WebSocket client of Node, which nothing here
 * uses: 80 ms of processor time and 13 MiB. The bundle takes the same object without that.
 */
function http(): Plugin {
  const id = '\0http'
  const members = Object.entries(Object.getOwnPropertyDescriptors(nodeHttp)).filter(([, member]) => 'value' in member)
  const names = members.map(([name]) => name).filter((name) => name !== 'default')
  return {
    name: 'http',
    resolveId: {
      filter: { id: /^(?:node:)?http$/ },
      handler: (_source, _importer, { kind }) => (kind === 'import-statement' ? id : undefined),
    },
    load: {
      filter: { id: /^\0http$/ },
      handler: () => `const http = process.getBuiltinModule('node:http')
export default http
export const { ${names.join(', ')} } = http`,
    },
  }
}

/** The parts of the HTTP client that we use. Its main module would load its caches, mocks, WebSockets and `fetch` too: 3 MiB. */
function undici(): Plugin {
  const id = '\0undici'
  return {
    name: 'undici',
    resolveId: {
      filter: { id: /^undici$/ },
      handler: (_source, importer) => (importer?.includes(`${sep}node_modules${sep}`) === false ? id : undefined),
    },
    load: {
      filter: { id: /^\0undici$/ },
      handler: () => `export { default as Client } from 'undici/lib/dispatcher/client.js'
export { default as buildConnector } from 'undici/lib/core/connect.js'`,
    },
  }
}
