import { registerHooks } from 'node:module'
import type * as Verify from '../src/index.ts'

/** Loads the package once more with the cryptography of browsers and workers. Modules of it have the query `?web`. */
registerHooks({
  resolve: (specifier, context, next) => {
    const isWeb = context.parentURL?.endsWith('?web') === true
    if (isWeb && specifier === '#crypto') {
      const url = new URL('../src/crypto-web.ts?web', import.meta.url).href
      return { url, format: 'module-typescript', shortCircuit: true }
    }
    const found = next(specifier, context)
    return isWeb && found.url.startsWith('file:') ? { ...found, url: `${found.url}?web` } : found
  },
})

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same module on another platform
const web = (await import(new URL('../src/index.ts?web', import.meta.url).href)) as typeof Verify

/** The package on each kind of platform. */
export const PLATFORMS: readonly (readonly [name: string, package_: typeof Verify])[] = [
  ['Node', await import('../src/index.ts')],
  ['Web Crypto', web],
]
