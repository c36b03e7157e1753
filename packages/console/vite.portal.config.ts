import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const preact = (part: string): string => fileURLToPath(import.meta.resolve(`preact/${part}`))

/** While developing, the page has the address that it has on a server: `/portal/prt_…`, with a token in the fragment. */
const atItsAddress: Plugin = {
  name: 'portal-at-its-address',
  configureServer: ({ middlewares }) => {
    middlewares.use((request, _response, next) => {
      if (/^\/portal\/(?!api\/)/.test(request.url ?? '')) request.url = '/assets/portal.html'
      next()
    })
  },
}

/**
 * The page of the customer portals, and the script that embeds it. They are separate from the console, because they run in the products
 * of other companies: the source is React, and the build uses the ten times smaller Preact. `npm run dev:portal -w
 * packages/console` serves the sources on port 4682, beside a server on 4680.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/assets/',
  plugins: [react(), tailwindcss(), atItsAddress],
  resolve: {
    alias: [
      { find: /^react\/jsx-(?:dev-)?runtime$/, replacement: preact('jsx-runtime') },
      { find: /^react-dom\/client$/, replacement: preact('compat/client') },
      { find: /^react(?:-dom)?$/, replacement: preact('compat') },
    ],
  },
  build: {
    assetsDir: '',
    manifest: 'portal-manifest.json',
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { portal: 'portal.html', embed: 'src/embed/element.ts' },
      output: {
        // Pages of other companies name this file, so its name never changes. The server does not cache it for long.
        entryFileNames: ({ name }) => (name === 'embed' ? 'portal-embed.js' : '[name]-[hash].js'),
      },
    },
  },
  server: { port: 4682, proxy: { '/portal/api': 'http://127.0.0.1:4680' } },
})
