#!/usr/bin/env node
// Plain JavaScript, so that an older Node can run it. The file starts the Node that Postroad installs.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const main = new URL('../src/main.ts', import.meta.url)
const candidates = ['../../../node/bin/node', '../../../node_modules/node/bin/node', '../node_modules/node/bin/node']
const pinned = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path))

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  await import(main.href)
} else if (pinned === undefined) {
  console.error(
    `postroad: Postroad needs Node ${NODE_MAJOR_MIN} or newer, and this is Node ${process.versions.node}. Run "npm ci" to install the right version.`,
  )
  process.exitCode = 1
} else {
  const { status, error } = spawnSync(pinned, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' })
  if (error !== undefined) console.error(`postroad: ${error.message}`)
  process.exitCode = status ?? 1
}
