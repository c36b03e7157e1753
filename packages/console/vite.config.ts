import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { contractAsData } from './build/contract-as-data.ts'

/** `npm run dev -w packages/console` serves the sources on port 4681, beside a server on 4680. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/assets/',
  plugins: [contractAsData(), react(), tailwindcss()],
  build: {
    assetsDir: '',
    manifest: 'manifest.json',
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { port: 4681, proxy: { '/admin/api': 'http://127.0.0.1:4680' } },
})
