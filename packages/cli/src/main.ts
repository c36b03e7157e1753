#!/usr/bin/env node
const NODE_MAJOR_MIN = 24

// Everything else is imported after this check, so that an older Node can still run the check.
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  console.error(
    `postroad: Postroad needs Node ${NODE_MAJOR_MIN} or newer, and this is Node ${process.versions.node}. Run it as "npx postroad …", which uses the Node of the project.`,
  )
  process.exitCode = 1
} else {
  // Node stores the compiled modules for the next command, which then starts twice as fast.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  const { run } = await import('./run.ts')
  // `… | head` closes the pipe when it has read enough. That is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  process.exitCode = await run(process.argv.slice(2))
}
