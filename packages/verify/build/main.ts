import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compilePackage, startPackage } from '../../../scripts/compile-package.ts'
import { presets } from '../src/presets.ts'

/**
 * Builds the package for publication into a folder, `dist` by default. `node` and `web` have the same modules with the
 * cryptography of their platform, so a browser loads them without a bundler. `presets` has a module for each provider.
 */
const HERE = join(import.meta.dirname, '..')
const FOLDER = resolve(process.argv[2] ?? join(HERE, 'dist'))
const PLATFORMS = ['node', 'web'] as const
const module = (file: string): object => ({ types: `./${file}.d.ts`, default: `./${file}.js` })

startPackage(FOLDER, { from: HERE, manifest: manifest() })
for (const platform of PLATFORMS) compileFor(platform)
writePresets()

/** `#crypto` is a file of the package.json here. In the package it is a file beside the others. */
function compileFor(platform: (typeof PLATFORMS)[number]): void {
  compilePackage({
    from: HERE,
    to: join(FOLDER, platform),
    instead: {},
    has: (name) => !new RegExp(`/(?:presets|crypto-${platform === 'node' ? 'web' : 'node'})\\.ts$`).test(name),
    rewrite: (text) => text.replaceAll("'#crypto'", `'./crypto-${platform}.ts'`),
    types: platform === 'node' ? ['node'] : [],
  })
}

function writePresets(): void {
  const folder = join(FOLDER, 'presets')
  mkdirSync(folder)
  const type = "import type { Preset } from '../web/index.js'\n"
  for (const [id, preset] of Object.entries(presets)) {
    writeFileSync(join(folder, `${id}.js`), `export const preset = ${JSON.stringify(preset, null, 2)}\n`)
    writeFileSync(join(folder, `${id}.d.ts`), `${type}export declare const preset: Preset\n`)
  }
  const ids = Object.keys(presets).toSorted()
  const names = ids.map((id, at) => `import { preset as preset${at} } from './${id}.js'\n`)
  const members = ids.map((id, at) => `  '${id}': preset${at},\n`)
  writeFileSync(join(folder, 'index.js'), `${names.join('')}export const presets = {\n${members.join('')}}\n`)
  const typed = ids.map((id) => `  readonly '${id}': Preset\n`)
  writeFileSync(join(folder, 'index.d.ts'), `${type}export declare const presets: {\n${typed.join('')}}\n`)
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
    engines: { node: '>=20.19' },
    exports: {
      '.': { node: module('node/index'), default: module('web/index') },
      './sync': { node: module('node/sync') },
      './presets': module('presets/index'),
      './presets/*': module('presets/*'),
      './package.json': './package.json',
    },
    types: './web/index.d.ts',
    files: [...PLATFORMS, 'presets'],
  }
}
