import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import { aWorld, type World } from '../../server/test/harness.ts'
import { buildConsole } from './browser.ts'

let world: World
const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

before(async () => {
  buildConsole()
  world = await aWorld()
})
after(() => world?.stop())

const ask = (path: string, headers: Record<string, string> = PAGE): Promise<Response> => fetch(world.baseUrl + path, { headers })

test('every path of a browser that no route has is the console, at any depth', async () => {
  for (const path of ['/', '/main/default/events', '/main/default/endpoints/whk_1/setup', '/nobody', '/settings', '/settings/keys']) {
    const answer = await ask(path)
    assert.equal(answer.status, 200, path)
    assert.match(await answer.text(), /<div id="root">/, path)
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
  }
})

test('a program that GETs the URL of an endpoint is told to POST; reserved roots are never the console', async () => {
  const path = new URL(world.endpoint).pathname
  const told = await ask(path, { accept: '*/*' })
  assert.deepEqual([told.status, told.headers.get('allow')], [405, 'POST'])
  for (const reserved of ['/admin/api/nothing', '/v1/nothing', '/assets/nothing.js', '/portal/x', '/mcp/x', '/robots.txt']) assert.equal((await ask(reserved)).status, 404, reserved)
  assert.equal((await ask(`${path}?hub.challenge=abc&hub.mode=subscribe&hub.verify_token=x`)).status, 403, 'a handshake is still ingest')
})

test('the policy of the page allows its own files and the one script that is written in it, by its hash', async () => {
  const answer = await ask('/main/default/events')
  const html = await answer.text()
  const inline = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  assert.equal(inline.length, 1)
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; /)
  assert.ok(policy.includes(`script-src 'self' ${inline[0]};`), policy)
  assert.ok(!/unsafe|\*|http/.test(policy), policy)
  assert.doesNotMatch(html, /\sstyle=|\son\w+=|<style/)
})

test('hashed files are immutable and come compressed to who takes it', async () => {
  const [, file = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await (await ask('/')).text()) ?? []
  const sizes = await Promise.all(['br', 'gzip', 'identity', 'br;q=0, gzip'].map((encoding) => encoded(file, encoding)))
  assert.deepEqual(sizes.map(({ encoding }) => encoding), ['br', 'gzip', undefined, 'gzip'])
  assert.ok(Number(sizes[0]?.bytes) < Number(sizes[1]?.bytes) && Number(sizes[1]?.bytes) < Number(sizes[2]?.bytes))
  for (const { cache } of sizes) assert.equal(cache, 'public, max-age=31536000, immutable')
})

/** fetch would unpack what it gets. */
function encoded(path: string, accepted: string): Promise<{ encoding: string | undefined; bytes: number; cache: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(world.baseUrl + path, { headers: { 'accept-encoding': accepted } }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => resolve({ encoding: response.headers['content-encoding'], bytes, cache: response.headers['cache-control'] }))
    }).on('error', reject)
  })
}
