import { readFileSync } from 'node:fs'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'

/** Where a bundle is written, and the sources that become programs of it, by the names of these. */
type Target = { readonly folder: string; readonly entries: Readonly<Record<string, string>> }

/**
 * Lets our modules find the files that they read: each one looks beside its source, not beside the bundle. Copies the files of
 * libraries into the bundle, so that the bundle runs without the libraries.
 */
export function places({ folder, entries }: Target): Plugin {
  return {
    name: 'places',
    transform: {
      filter: { code: /import\.meta\.(?:url|resolve)/ },
      handler(code, id) {
        if (id.startsWith('\0')) return undefined
        const place = JSON.stringify(relative(folder, id).split(sep).join('/'))
        const copied = (file: string): string => {
          this.emitFile({ type: 'asset', fileName: basename(file), source: readFileSync(file) })
          return `new URL('./${basename(file)}', import.meta.URL)`
        }
        return code
          .replaceAll(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, (found, path: string) => {
            const name = Object.entries(entries).find(([, file]) => file === resolve(dirname(id), path))?.[0]
            return name === undefined ? found : `new URL('./${name}.js', import.meta.URL)`
          })
          .replaceAll(/new URL\('([^']+\.wasm)', import\.meta\.url\)/g, (_, path: string) =>
            copied(resolve(dirname(id), path)),
          )
          .replaceAll(
            /import\.meta\.resolve\('([^']+\.(?:wasm|woff2))'\)/g,
            (_, name: string) => `${copied(fileURLToPath(import.meta.resolve(name)))}.href`,
          )
          .replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`)
          .replaceAll('import.meta.URL', 'import.meta.url')
      },
    },
  }
}
