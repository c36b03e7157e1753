import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begin, launch, run } from './command-line.ts'
import { inPairs, onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, remote } = stage

test('every command explains itself with an example, within 80 columns', async () => {
  await inPairs([[], ['start'], ['bootstrap'], ['doctor'], ['send'], ['events', 'list'], ['events', 'get'], ['deliveries', 'list'], ['deliveries', 'get'], ['deliveries', 'replay'], ['deliveries', 'retry'], ['deliveries', 'cancel'], ['replays', 'list'], ['replays', 'pause'], ['endpoints', 'list'], ['endpoints', 'rotate'], ['endpoints', 'rotate-secret'], ['endpoints', 'versions'], ['destinations', 'list'], ['destinations', 'create'], ['destinations', 'test'], ['destinations', 'health'], ['destinations', 'recover'], ['api-keys', 'list'], ['api-keys', 'revoke'], ['audit', 'list'], ['audit', 'verify'], ['audit', 'export'], ['export']], async (args) => {
    const text = await ok([...args, '--help'], {})
    assert.match(text, args.length === 0 ? /Begin with:\n {2}postroad start\n/ : /\nExamples?:\n {2}postroad /)
  })
  assert.equal(await ok([], {}), await ok(['--help'], {}))
  assert.match(await ok(['--version'], {}), /^\d+\.\d+\.\d+\n$/)
})

test('npm run writes its hints so that they can be pasted', async () => {
  assert.match(await ok(['--help'], { npm_lifecycle_event: 'postroad' }), /^Usage: npm run postroad -- <command>/)
})

test('colour is for terminals: FORCE_COLOR stands in for one here, NO_COLOR wins', async () => {
  const colour = /\u001b\[/ // oxlint-disable-line no-control-regex -- the very thing looked for
  assert.doesNotMatch((await run(['send'], remote())).stdout, colour)
  assert.match((await run(['send'], remote({ FORCE_COLOR: '1' }))).stdout, colour)
  assert.doesNotMatch((await run(['--help'], remote())).stdout, colour)
})

test('a reader that has seen enough is no failure', async () => {
  const child = begin(['endpoints', 'list', '--json'], remote())
  child.stdout.destroy()
  const [code] = await new Promise<[number | null]>((resolve) => child.once('exit', (...end: [number | null]) => resolve(end)))
  assert.equal(code, 0)
})

test('an older Node is told so in one line', async () => {
  const older = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.19.0"}})'
  const end = await run(['events', 'list'], remote({ NODE_OPTIONS: `--import=${encodeURI(older)}` }))
  refused(end, { code: 1, stderr: /^postroad: this is Node 22\.19\.0, and Postroad needs 24 or newer\. Run it as "npm run postroad -- …", which brings its own\.\n$/ })
})

test('the command that npm links hands over to the Node installed with it, whatever Node runs it', async () => {
  const older = 'data:text/javascript,if(process.argv[1].endsWith("postroad.js"))Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})'
  for (const env of [{}, { NODE_OPTIONS: `--import=${encodeURI(older)}` }]) {
    const [version, unknown] = await Promise.all([launch(['--version'], env), launch(['nonsense'], env)])
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual([version.code, unknown.code], [0, 2])
  }
})
