import { registerHooks } from 'node:module'
import type * as Package from '../src/index.ts'

/** The package, loaded once more with the cryptography of browsers and workers: those modules have the query `?web`. */
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

export type Verify = typeof Package

/** The package on each kind of platform. */
export const PLATFORMS: readonly (readonly [name: string, load: () => Promise<Verify>])[] = [
  ['Node', () => import('../src/index.ts')],
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same module on another platform
  ['Web Crypto', async () => (await import(new URL('../src/index.ts?web', import.meta.url).href)) as Verify],
]
