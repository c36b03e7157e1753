import { readFileSync, writeFileSync } from 'node:fs'
import { SETTINGS } from '../packages/server/src/config.ts'

/** Writes docs/operate/configure.md from the settings; with `--check` it fails when that page is stale. */
const PAGE = 'docs/operate/configure.md'
// A default that depends on the machine is described in words, so that the page is the same everywhere.
const WORDS: Readonly<Record<string, string>> = {
  PROCESSES: 'one per two cores',
  HEAVY_THREADS: 'one per core, at least 3',
}

const rows = Object.entries(SETTINGS).map(([name, { doc, fallback, allowed }]) => {
  const shown = WORDS[name] ?? (fallback === undefined ? 'none' : fallback === '' ? 'empty' : `\`${fallback}\``)
  return `| \`${name}\` | ${doc} | ${shown} | ${allowed} |`
})

const text = [
  '# Settings',
  '',
  'Every setting of Postroad, from the environment only. A wrong value stops the start with one line that names it.',
  'This page is written by `npm run docs` from `packages/server/src/config.ts`.',
  '',
  '| setting | what it does | default | allowed |',
  '|---|---|---|---|',
  ...rows,
  '',
].join('\n')

if (process.argv.includes('--check')) {
  if (readFileSync(PAGE, 'utf8') !== text) {
    console.error(`${PAGE} is stale; run npm run docs.`)
    process.exitCode = 1
  }
} else {
  writeFileSync(PAGE, text)
}
