/**
 * Runs after an installation: builds the console and the server side by side. It is plain JavaScript, so that a Node that cannot read
 * TypeScript reports which one it needs. A failed build does not fail the installation, because the server tries again when it starts.
 */
import { spawn } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const ROOT = fileURLToPath(new URL('../', import.meta.url))

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  console.error(
    `postroad: Postroad needs Node ${NODE_MAJOR_MIN} or newer, npm installs none for ${process.platform}-${process.arch}, and this is Node ${process.versions.node}. Install a newer Node, and then run npm ci again.`,
  )
  process.exitCode = 1
} else {
  // The headers for add-ons are a third of the package of Node, and nothing here is compiled.
  for (const headers of globSync('node_modules/node-*/include/node', { cwd: ROOT }))
    rmSync(new URL(headers, new URL('../', import.meta.url)), { recursive: true, force: true })
  for (const build of ['packages/console/build/main.ts', 'packages/server/build/main.ts'])
    spawn(process.execPath, [build, '--at-install'], { cwd: ROOT, stdio: 'inherit' })
}
