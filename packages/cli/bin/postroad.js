#!/usr/bin/env node
// Plain JavaScript, so that an older Node can run it. The file starts the Node that Postroad installs.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const LOOK_MS = 500
/** The sources. A release has none, so it runs their bundles. */
const main = existing('../src/main.ts', '../dist/main.js')
const server = existing('../../server/build/start.ts', '../../server/dist/release/main.js')
const runtime = fileURLToPath(
  new URL(`../../../node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url),
)

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  // Node stores the compiled modules for the next command, this one's TypeScript included.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  await (isPlainStart() ? startServer() : import(main.href))
} else if (existsSync(runtime)) {
  runPinned()
} else {
  console.error(
    `postroad: Postroad needs Node ${NODE_MAJOR_MIN} or newer, and this is Node ${process.versions.node}. Install a newer Node, or run npx -p node@${NODE_MAJOR_MIN} -p postroad postroad.`,
  )
  process.exitCode = 1
}

function existing(source, bundle) {
  const [url, other] = [source, bundle].map((path) => new URL(path, import.meta.url))
  return existsSync(url) ? url : other
}

/** Whether the command line would only become the server. Then it need not be loaded. */
function isPlainStart() {
  const [, , command = 'start', ...more] = process.argv
  return command === 'start' && more.length === 0 && process.platform !== 'win32'
}

function startServer() {
  process.argv[2] = 'serve'
  process.env.POSTROAD_ENTRY = fileURLToPath(server)
  if (isNpx()) process.env.POSTROAD_PARENT = String(process.ppid)
  return import(server.href)
}

/** `npx postroad` is a shell between npm and this process. It dies of a signal to npm, and passes none on. */
function isNpx() {
  const { npm_lifecycle_event: by, npm_lifecycle_script: command } = process.env
  return by === 'npx' && /^(["']?)postroad\1$/.test(command ?? '')
}

/** Passes signals on, and ends as the program ended. The variable lets a server end if this process is killed. */
function runPinned() {
  const child = spawn(runtime, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, POSTROAD_PARENT: String(process.pid) },
  })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  if (isNpx()) endWithParent(child)
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

/** The system gives this process another parent when the shell has died. */
function endWithParent(child) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    child.kill('SIGTERM')
  }, LOOK_MS).unref()
}
