/**
 * `node scripts/test.ts` finds this file under every Node. It is plain JavaScript, so that a Node that cannot read
 * TypeScript reports which one it needs. The tests are in `test-main.ts`.
 */
const [major] = process.versions.node.split('.').map(Number)
if (major >= 24) await import('./test-main.ts')
else {
  console.error(
    `The tests need Node 24, and this is Node ${process.versions.node}. Run npm ci, then npm test: the installation contains Node 24.`,
  )
  process.exitCode = 2
}
