import { copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

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

export type Compiled = {
  /** The folder of the package in this repository. */
  readonly from: string
  /** The folder for the JavaScript modules and their types. */
  readonly to: string
  /** Files that take the place of sources, by their names. */
  readonly instead: Readonly<Record<string, string>>
  /** Whether a source belongs to the package. */
  readonly has?: (name: string) => boolean
  readonly rewrite?: (text: string) => string
  readonly types?: readonly string[]
}

/** Compiles the sources of a package for publication: modules with their types, which need nothing but each other. */
export function compilePackage({ from, to, instead, has = () => true, rewrite, types = [] }: Compiled): void {
  const sources = mkdtempSync(join(tmpdir(), 'postroad-package-'))
  try {
    cpSync(join(from, 'src'), sources, { recursive: true, filter: (name) => !name.endsWith('.test.ts') && has(name) })
    for (const [name, text] of Object.entries(instead)) writeFileSync(join(sources, name), text)
    if (rewrite !== undefined)
      for (const file of globSync(join(sources, '*.ts'))) writeFileSync(file, rewrite(readFileSync(file, 'utf8')))
    // The compiler treats files as modules because of the nearest package.json.
    writeFileSync(join(sources, 'package.json'), '{"type":"module"}')
    compile(sources, { outDir: to, types: [...types] })
  } finally {
    rmSync(sources, { recursive: true, force: true })
  }
}

function compile(sources: string, over: ts.CompilerOptions): void {
  const typeRoots = [join(import.meta.dirname, '../node_modules/@types')]
  const program = ts.createProgram(globSync(join(sources, '*.ts')), {
    ...OPTIONS,
    rootDir: sources,
    typeRoots,
    ...over,
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

/** Empties the folder of a package, and writes its manifest, its README and the license. */
export function startPackage(
  folder: string,
  { from, manifest }: { readonly from: string; readonly manifest: object },
): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(from, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(from, '../../LICENSE'), join(folder, 'LICENSE'))
}
