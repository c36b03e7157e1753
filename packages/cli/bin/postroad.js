#!/usr/bin/env node
// Plain JavaScript, so that an older Node can run it. The file starts the Node that Postroad installs.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const main = new URL('../src/main.ts', import.meta.url)
const server = new URL('../../server/build/start.ts', import.meta.url)
const runtime = fileURLToPath(
  new URL(`../../../node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url),
)

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  // Node stores the compiled modules for the next command, this one's TypeScript included.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  await (isPlainStart() ? startServer() : import(main.href))
} else if (existsSync(runtime)) {
  runPinned(runtime)
} else {
  console.error(
    `postroad: Postroad needs Node ${NODE_MAJOR_MIN} or newer, and this is Node ${process.versions.node}. Install a newer Node, or run npx -p node@${NODE_MAJOR_MIN} -p postroad postroad.`,
  )
  process.exitCode = 1
}

/** Whether the command line would only become the server. Then it need not be loaded. */
function isPlainStart() {
  return process.argv.length === 3 && process.argv[2] === 'start' && process.platform !== 'win32'
}

function startServer() {
  process.argv[2] = 'serve'
  return import(server.href)
}

/** Passes signals on, and ends as the program ended. The variable lets a server end if this process is killed. */
function runPinned(node) {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, POSTROAD_PARENT: String(process.pid) },
  })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`postroad: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1
    else {
      for (const name of signals) process.removeAllListeners(name)
      process.kill(process.pid, signal)
    }
  })
}
