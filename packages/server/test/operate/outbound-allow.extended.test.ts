import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { outboundAllow, readConfig } from '../../src/config.ts'
import { aSink, aWorld, type Answer } from '../stage/harness.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const LOOPBACK = ['127.0.0.0/8', '::1/128']
const KEY = Buffer.alloc(32).toString('base64')

const allowed = (env: Record<string, string>): readonly string[] => outboundAllow(readConfig(env))

test('loopback is the default only on a personal machine: embedded database, loopback HOST, PUBLIC_URL absent or loopback', () => {
  for (const env of [
    {},
    { HOST: 'localhost' },
    { HOST: '::1' },
    { HOST: '127.0.0.53' },
    { PUBLIC_URL: 'http://localhost:4680' },
    { PUBLIC_URL: 'https://127.0.0.1' },
    { PUBLIC_URL: 'http://[::1]:4680/' },
  ]) {
    assert.deepEqual(allowed(env), LOOPBACK, JSON.stringify(env))
  }
  for (const env of [
    { PUBLIC_URL: 'https://hooks.example.com' },
    { PUBLIC_URL: 'https://localhost.example.com' },
    { PUBLIC_URL: 'https://127.0.0.1.example.com' },
    { PUBLIC_URL: 'http://192.168.1.10:4680' },
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { HOST: '127.example.com' },
    { HOST: 'localhost.example.com' },
    { HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:4680' },
    { DATABASE_URL: 'postgres://user@127.0.0.1/postroad', SECRET_KEY: KEY },
  ]) {
    assert.deepEqual(allowed(env), [], JSON.stringify(env))
  }
})

test('an empty OUTBOUND_ALLOW allows nothing; a set one allows exactly its ranges', () => {
  for (const empty of ['', '  ', ',']) assert.deepEqual(allowed({ OUTBOUND_ALLOW: empty }), [])
  const named = { OUTBOUND_ALLOW: '10.0.0.0/8, ::1', PUBLIC_URL: 'https://hooks.example.com' }
  assert.deepEqual(allowed(named), ['10.0.0.0/8', '::1'])
})

for (const [what, env] of [
  ['a public PUBLIC_URL', { PUBLIC_URL: 'https://hooks.example.com', OUTBOUND_ALLOW: undefined }],
  ['an empty OUTBOUND_ALLOW', { OUTBOUND_ALLOW: '' }],
] as const) {
  test(`with ${what} no destination can reach services of this machine`, async (t) => {
    const world = await aWorld({ env, loops: [] })
    const internal = await aSink()
    t.after(() => Promise.all([world.stop(), internal.stop()]))
    const post = async (path: string, body: unknown): Promise<Pick<Answer, 'status' | 'body'>> => {
      const answer = await fetch(`${world.address}/admin/api/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.installed.api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: answer.status, body: await answer.json() }
    }
    const byName = internal.url.replace('127.0.0.1', 'localhost')
    for (const url of [internal.url, byName, 'https://[::1]:9/']) {
      assert.equal((await post('destinations', { name: 'inside', url })).status, 400, url)
    }
    // With https the address of a name is checked when a request leaves.
    const named = await post('destinations', { name: 'named', url: byName.replace('http:', 'https:') })
    const tested = await post(`destinations/${named.body.destination.id}/test`, {})
    assert.equal(tested.body.attempt.error_code, 'blocked_address')
    assert.equal(internal.received.length, 0)
  })
}

test('the server logs in one line at its start which ranges deliveries may reach', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-test-'))
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env['PATH'], DATA_DIR: folder, PORT: '0', LOG_FORMAT: 'json', PROCESSES: '2' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const said: string[] = []
  for await (const line of createInterface(child.stdout)) {
    said.push(line)
    if (line.includes('Endpoint')) child.kill('SIGTERM')
  }
  const lines = said
    .filter((line) => line.startsWith('{'))
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter(({ event }) => event === 'outbound.allowed')
  assert.deepEqual(
    lines.map(({ ranges, set_by }) => ({ ranges, set_by })),
    [{ ranges: 'public internet, 127.0.0.0/8, ::1/128', set_by: 'default' }],
  )
})
