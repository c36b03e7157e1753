import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { run, runAtTerminal, type Environment } from '../test/command-line.ts'

async function helpOf(args: readonly string[], env: Environment = {}): Promise<string> {
  const { code, stdout, stderr } = await run(args, env)
  assert.deepEqual([code, stderr], [0, ''])
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `wider than 80: ${line}`)
  return stdout
}

test('every command explains itself with an example, within 80 columns', async () => {
  const commands = [
    [],
    ['start'],
    ['migrate'],
    ['bootstrap'],
    ['sign-in-link'],
    ['doctor'],
    ['send'],
    ['events', 'list'],
    ['events', 'get'],
    ['deliveries', 'list'],
    ['deliveries', 'get'],
    ['deliveries', 'replay'],
    ['deliveries', 'retry'],
    ['deliveries', 'cancel'],
    ['replays', 'list'],
    ['replays', 'pause'],
    ['source-presets', 'list'],
    ['source-presets', 'get'],
    ['endpoints', 'list'],
    ['endpoints', 'get'],
    ['endpoints', 'create'],
    ['endpoints', 'update'],
    ['endpoints', 'rotate'],
    ['endpoints', 'rotate-secret'],
    ['endpoints', 'versions'],
    ['sink'],
    ['destinations', 'list'],
    ['destinations', 'create'],
    ['destinations', 'get'],
    ['destinations', 'update'],
    ['destinations', 'test'],
    ['destinations', 'health'],
    ['destinations', 'recover'],
    ['projects', 'use'],
    ['listen'],
    ['tail'],
    ['trigger'],
    ['verify'],
    ['login'],
    ['logout'],
    ['profiles', 'list'],
    ['profiles', 'use'],
    ['completion'],
    ['config', 'pull'],
    ['config', 'plan'],
    ['config', 'apply'],
    ['audit', 'list'],
    ['audit', 'verify'],
    ['audit', 'export'],
    ['export'],
  ]
  for (const args of commands) {
    const text = await helpOf([...args, '--help'])
    assert.match(text, args.length === 0 ? /Start with:\n {2}postroad start\n/ : /\nExamples?:\n {2}postroad /)
  }
  assert.match(await helpOf(['--version']), /^\d+\.\d+\.\d+\n$/)
})

test('under npm, a person can paste the hints', async () => {
  for (const npm_lifecycle_event of ['npx', 'postroad'])
    assert.match(await helpOf(['--help'], { npm_lifecycle_event }), /^Usage: npx postroad <command>/)
})

test('help has color at a terminal and with FORCE_COLOR, and none with NO_COLOR', async () => {
  const color = /\u001b\[/ // oxlint-disable-line no-control-regex -- these are the characters to find
  assert.doesNotMatch(await helpOf(['--help']), color)
  assert.match((await run(['--help'], { FORCE_COLOR: '1' })).stdout, color)
  assert.match((await runAtTerminal(['--help'], { TERM: 'xterm' })).stdout, color)
  assert.doesNotMatch((await runAtTerminal(['--help'], { TERM: 'xterm', NO_COLOR: '1' })).stdout, color)
})

test('the help does not load the schemas, which would take a quarter of a second', async () => {
  const program = new URL('program.ts', import.meta.url)
  const child = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { registerHooks } from 'node:module'
     const loaded = []
     registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
     const { createProgram } = await import(${JSON.stringify(program.href)})
     createProgram().helpInformation()
     console.log(JSON.stringify(loaded))`,
  ])
  const loaded: unknown = JSON.parse(child.stdout)
  assert.ok(Array.isArray(loaded) && loaded.includes(program.href), 'the program was loaded')
  assert.deepEqual(
    loaded.filter((url) => String(url).includes('/node_modules/zod/')),
    [],
  )
})
