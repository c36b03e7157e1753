import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begin, launch, runProcess } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { remote } = stage

test('a reader that closes the pipe early causes no failure', async () => {
  const child = begin(['endpoints', 'list', '--json'], remote())
  child.stdout.destroy()
  const [code] = await new Promise<[number | null]>((resolve) =>
    child.once('exit', (...end: [number | null]) => resolve(end)),
  )
  assert.equal(code, 0)
})

test('the command line reports in one line that Node is too old', async () => {
  const older =
    'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.19.0"}})'
  const end = await runProcess(['events', 'list'], remote({ NODE_OPTIONS: `--import=${encodeURI(older)}` }))
  refused(end, {
    code: 1,
    stderr:
      /^postroad: Postroad needs Node 24 or newer, and this is Node 22\.19\.0\. Run it as "npx postroad …", which uses the Node of the project\.\n$/,
  })
})

test('the command that npm links starts the Node that was installed with it, regardless of the Node that runs the command', async () => {
  const older =
    'data:text/javascript,if(process.argv[1].endsWith("postroad.js"))Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})'
  for (const env of [{}, { NODE_OPTIONS: `--import=${encodeURI(older)}` }]) {
    const [version, unknown] = await Promise.all([launch(['--version'], env), launch(['nonsense'], env)])
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual([version.code, unknown.code], [0, 2])
  }
})
