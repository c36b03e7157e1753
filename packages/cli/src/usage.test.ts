import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, run } from '../test/command-line.ts'

test('a usage error has exit code 2, and one line names the help', async () => {
  for (const args of [
    ['evnts'],
    ['events', 'git'],
    ['events', 'get'],
    ['events', 'list', '--limit', '0'],
    ['events', 'list', '--limit', 'x'],
    ['deliveries', 'list', '--state', 'lost'],
    ['send', '--sample', 'nope'],
    ['send', '-d', '{}', '--sample', 'hello'],
    ['start', '--port', '1'],
    ['events', 'list', '--url', 'nowhere'],
    ['send', '-d', '@/no/such/file'],
  ])
    refused(await run(args, {}), { code: 2, stderr: /^postroad: .+/ })
})

test('with --json a usage error is one object on stderr, and nothing else', async () => {
  for (const args of [
    ['evnts'],
    ['events'],
    ['events', 'get'],
    ['events', 'list', '--limit', 'x'],
    ['send', '-d', '{}', '--sample', 'hello'],
    ['events', 'list', '--url', 'nowhere'],
    ['suspend'],
  ]) {
    const { code, stdout, stderr } = await run([...args, '--json'], {})
    const { error, reason, ...more } = JSON.parse(stderr)
    assert.deepEqual([code, stdout, reason, more], [2, '', 'usage', {}])
    assert.match(error, /^[^\n]+\.$/)
  }
})
