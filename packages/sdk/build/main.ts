import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compilePackage, startPackage } from '../../../scripts/compile-package.ts'
import { contractAsTypes } from './contract-as-types.ts'

/**
 * Builds the package for publication into a folder, `dist` by default: JavaScript modules with their types, which need nothing at run
 * time. `npm pack` and `npm publish` run in that folder.
 */
const HERE = join(import.meta.dirname, '..')
const FOLDER = resolve(process.argv[2] ?? join(HERE, 'dist'))

const instead = await contractAsTypes()
startPackage(FOLDER, { from: HERE, manifest: manifest() })
compilePackage({ from: HERE, to: join(FOLDER, 'lib'), instead })

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
