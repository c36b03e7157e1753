import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { bundle, bundleServer } from '../packages/server/build/bundle.ts'

/**
 * `npm run release` makes `dist/postroad-<version>.tgz`: the package that `npx postroad` runs. It is this repository without its
 * sources: the bundles of the server and of the command line, the built console, and the files that these read, each in its place
 * (docs/adr/0406). Another folder can be named.
 */
const ROOT = resolve(import.meta.dirname, '..')
const SERVER = join(ROOT, 'packages/server')
const CLI = join(ROOT, 'packages/cli')

/** The files that the programs read beside their code. */
const READ = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'docs/{guides,operate,states}/*.md',
  'packages/cli/bin/postroad.js',
  'packages/cli/package.json',
  'packages/cli/src/rooms/table.json',
  'packages/console/dist/*',
  'packages/server/{assets,destination-presets,migrations}/**/*',
  'packages/server/plans.json',
  'packages/verify/presets/**/*',
]

type Manifest = Readonly<Record<string, unknown>> & { readonly version: string }
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))

/** Makes the package in a folder, and returns its tarball. */
async function release(to: string): Promise<string> {
  const { version } = checkedVersion()
  execFileSync(process.execPath, [join(ROOT, 'packages/console/build/main.ts')], { stdio: 'inherit' })
  mkdirSync(to, { recursive: true })
  const made = mkdtempSync(join(to, '.release-'))
  try {
    for (const file of READ.flatMap((pattern) => globSync(pattern, { cwd: ROOT, withFileTypes: true })))
      if (file.isFile()) copy(join(file.parentPath, file.name), made)
    await bundled(join(SERVER, 'dist'), join(made, 'packages/server/dist/release'), (folder) =>
      bundleServer(folder, { sourcemap: false }),
    )
    await bundled(CLI, join(made, 'packages/cli/dist'), (folder) =>
      bundle(folder, { entries: { main: join(CLI, 'src/main.ts') } }),
    )
    writeFileSync(join(made, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
    execFileSync('npm', ['pack', '--silent', '--pack-destination', to], {
      cwd: made,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return join(to, `postroad-${version}.tgz`)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Every package of the repository has the version of the release. */
function checkedVersion(): Manifest {
  const root = manifestOf('.')
  for (const file of globSync('packages/*/package.json', { cwd: ROOT })) {
    const { version } = manifestOf(dirname(file))
    if (version !== root.version)
      throw new Error(`${file} has the version ${version}, and package.json ${root.version}.`)
  }
  return root
}

function copy(file: string, made: string): void {
  const to = join(made, relative(ROOT, file))
  mkdirSync(dirname(to), { recursive: true })
  cpSync(file, to)
}

/** Bundles beside the place of the bundle in the repository, because the bundle names the files that it reads from there. */
async function bundled(beside: string, to: string, make: (folder: string) => Promise<unknown>): Promise<void> {
  mkdirSync(beside, { recursive: true })
  const folder = mkdtempSync(join(beside, '.release-'))
  try {
    await make(folder)
    mkdirSync(dirname(to), { recursive: true })
    cpSync(folder, to, { recursive: true })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The programs are bundled with their libraries, so the package needs only the binaries of PostgreSQL, and only without DATABASE_URL. */
function manifest(): object {
  const { version, description, license } = manifestOf('.')
  const { optionalDependencies } = manifestOf('packages/server')
  return {
    name: 'postroad',
    version,
    description,
    keywords: ['events', 'postgresql', 'webhooks'],
    license,
    type: 'module',
    bin: { postroad: 'packages/cli/bin/postroad.js' },
    engines: { node: '>=24' },
    os: ['darwin', 'linux'],
    optionalDependencies,
  }
}

console.log(await release(resolve(process.argv[2] ?? join(ROOT, 'dist'))))
