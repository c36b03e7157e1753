import { copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { contractAsTypes } from './contract-as-types.ts'

/**
 * Builds the package for publication into a folder, `dist` by default: JavaScript modules with their types, which need nothing at run
 * time. `npm pack` and `npm publish` run in that folder.
 */
const HERE = join(import.meta.dirname, '..')
const FOLDER = resolve(process.argv[2] ?? join(HERE, 'dist'))

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
  noEmitOnError: true,
}

const sources = mkdtempSync(join(tmpdir(), 'postroad-sdk-'))
try {
  cpSync(join(HERE, 'src'), sources, { recursive: true, filter: (name) => !name.endsWith('.test.ts') })
  for (const [name, text] of Object.entries(await contractAsTypes())) writeFileSync(join(sources, name), text)
  // The compiler treats files as modules because of the nearest package.json.
  writeFileSync(join(sources, 'package.json'), '{"type":"module"}')
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  compile()
  writeFileSync(join(FOLDER, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  copyFileSync(join(HERE, 'README.md'), join(FOLDER, 'README.md'))
  copyFileSync(join(HERE, '../../LICENSE'), join(FOLDER, 'LICENSE'))
} finally {
  rmSync(sources, { recursive: true, force: true })
}

function compile(): void {
  const program = ts.createProgram(globSync(join(sources, '*.ts')), {
    ...OPTIONS,
    rootDir: sources,
    outDir: join(FOLDER, 'lib'),
  })
  // The compiler rewrites the extensions of imports in JavaScript, but not in declarations.
  const { diagnostics } = program.emit(undefined, (name, text) => {
    const isTypes = name.endsWith('.d.ts')
    ts.sys.writeFile(name, isTypes ? text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'") : text)
  })
  const wrong = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
  if (wrong.length === 0) return
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => sources, getNewLine: () => '\n' }
  throw new Error(ts.formatDiagnostics(wrong, host))
}

/** The package.json of the published package. The one beside the sources names them and the packages for a build. */
function manifest(): object {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package.json of this package
  const own = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>>
  const { name, version, description, keywords, license } = own
  return {
    name,
    version,
    description,
    keywords,
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.3' },
    exports: {
      '.': entry('index'),
      './verify-signature': entry('verify-signature'),
      './package.json': './package.json',
    },
    types: './lib/index.d.ts',
    files: ['lib'],
  }
}

function entry(file: string): object {
  return { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` }
}
