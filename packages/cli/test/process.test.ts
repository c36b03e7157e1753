import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begin, launch, runProcess } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { remote } = stage

test('a reader that has seen enough is no failure', async () => {
  const child = begin(['endpoints', 'list', '--json'], remote())
  child.stdout.destroy()
  const [code] = await new Promise<[number | null]>((resolve) =>
    child.once('exit', (...end: [number | null]) => resolve(end)),
  )
  assert.equal(code, 0)
})

test('an older Node is told so in one line', async () => {
  const older =
    'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.19.0"}})'
  const end = await runProcess(['events', 'list'], remote({ NODE_OPTIONS: `--import=${encodeURI(older)}` }))
  refused(end, {
    code: 1,
    stderr:
      /^postroad: this is Node 22\.19\.0, and Postroad needs 24 or newer\. Run it as "npm run postroad -- …", which brings its own\.\n$/,
  })
})

test('the command that npm links hands over to the Node installed with it, whatever Node runs it', async () => {
  const older =
    'data:text/javascript,if(process.argv[1].endsWith("postroad.js"))Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})'
  for (const env of [{}, { NODE_OPTIONS: `--import=${encodeURI(older)}` }]) {
    const [version, unknown] = await Promise.all([launch(['--version'], env), launch(['nonsense'], env)])
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual([version.code, unknown.code], [0, 2])
  }
})
