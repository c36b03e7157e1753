import assert from 'node:assert/strict'
import { test } from 'node:test'
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
    ['endpoints', 'list'],
    ['endpoints', 'get'],
    ['endpoints', 'create'],
    ['endpoints', 'edit'],
    ['endpoints', 'delete'],
    ['endpoints', 'rotate'],
    ['endpoints', 'rotate-secret'],
    ['endpoints', 'versions'],
    ['sink'],
    ['destinations', 'list'],
    ['destinations', 'create'],
    ['destinations', 'get'],
    ['destinations', 'edit'],
    ['destinations', 'delete'],
    ['destinations', 'test'],
    ['destinations', 'health'],
    ['destinations', 'recover'],
    ['rules', 'list'],
    ['rules', 'get'],
    ['rules', 'create'],
    ['rules', 'edit'],
    ['rules', 'delete'],
    ['projects', 'list'],
    ['projects', 'create'],
    ['projects', 'rename'],
    ['projects', 'delete'],
    ['api-keys', 'list'],
    ['api-keys', 'revoke'],
    ['audit', 'list'],
    ['audit', 'verify'],
    ['audit', 'export'],
    ['export'],
  ]
  for (const args of commands) {
    const text = await helpOf([...args, '--help'])
    assert.match(text, args.length === 0 ? /Start with:\n {2}postroad start\n/ : /\nExamples?:\n {2}postroad /)
  }
  assert.equal(await helpOf([]), await helpOf(['--help']))
  assert.match(await helpOf(['--version']), /^\d+\.\d+\.\d+\n$/)
})

test('npm run writes its hints so that they can be pasted', async () => {
  assert.match(await helpOf(['--help'], { npm_lifecycle_event: 'postroad' }), /^Usage: npm run postroad -- <command>/)
})

test('help has colour at a terminal and for FORCE_COLOR, and none for NO_COLOR', async () => {
  const colour = /\u001b\[/ // oxlint-disable-line no-control-regex -- the very thing looked for
  assert.doesNotMatch(await helpOf(['--help']), colour)
  assert.match((await run(['--help'], { FORCE_COLOR: '1' })).stdout, colour)
  assert.match((await runAtTerminal(['--help'], { TERM: 'xterm' })).stdout, colour)
  assert.doesNotMatch((await runAtTerminal(['--help'], { TERM: 'xterm', NO_COLOR: '1' })).stdout, colour)
})
