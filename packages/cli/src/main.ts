#!/usr/bin/env node
const NODE_MAJOR_MIN = 24

// Everything else is imported after this check, so that an older Node gets to say it.
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  console.error(
    `postroad: this is Node ${process.versions.node}, and Postroad needs ${NODE_MAJOR_MIN} or newer. Run it as "npm run postroad -- …", which brings its own.`,
  )
  process.exitCode = 1
} else {
  const { run } = await import('./run.ts')
  // `… | head` closes the pipe when it has seen enough: that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  process.exitCode = await run(process.argv.slice(2))
}
