import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import { aWorld, type World } from '../../../server/test/stage/harness.ts'
import { buildConsole } from '../stage/browser.ts'

let world: World
const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

before(async () => {
  buildConsole()
  world = await aWorld()
})
after(() => world?.stop())

const ask = (path: string, headers: Record<string, string> = PAGE): Promise<Response> =>
  fetch(world.baseUrl + path, { headers })

test('the server answers each screen with the page of the console, and any other address with that page and 404', async () => {
  for (const [path, status] of [
    ['/', 200],
    ['/main/default', 200],
    ['/main/default/events', 200],
    ['/main/default/events/', 200],
    ['/main/default/portals', 200],
    ['/main/default/ingest-keys?sel=iky_1', 200],
    ['/main/default/endpoints/whk_1/setup', 404],
    ['/nobody', 404],
    ['/settings', 404],
    ['/settings/keys', 404],
  ] as const) {
    const answer = await ask(path)
    assert.equal(answer.status, status, path)
    assert.match(await answer.text(), /<div id="root">/, path)
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
  }
})

test('a GET of the URL of an endpoint gets the console, and does not reveal whether there is an endpoint', async () => {
  const path = new URL(world.endpoint).pathname
  for (const headers of [PAGE, { accept: '*/*' }, { accept: 'application/json' }, {}]) {
    const said = await Promise.all(
      [path, `${path}x`, `${path}/Dataset`, '/no/such/place', `${path}?hub.mode=subscribe`].map(async (one) => {
        const answer = await ask(one, headers)
        const { date: _date, 'request-id': _id, ...rest } = Object.fromEntries(answer.headers)
        return { status: answer.status, headers: rest, text: await answer.text() }
      }),
    )
    for (const answer of said) assert.deepEqual(answer, said[0])
    assert.equal(said[0]?.status, 404)
    assert.match(said[0].text, /<div id="root">/)
  }
})

test('a handshake is a request of ingest, and reserved roots are never the console', async () => {
  const path = new URL(world.endpoint).pathname
  for (const reserved of [
    '/admin/api/nothing',
    '/v1/nothing',
    '/assets/nothing.js',
    '/portal/x',
    '/mcp/x',
    '/robots.txt',
  ])
    assert.equal((await ask(reserved)).status, 404, reserved)
  assert.equal(
    (await ask(`${path}?hub.challenge=abc&hub.mode=subscribe&hub.verify_token=x`)).status,
    403,
    'a handshake is ingest',
  )
})

test('the policy of the page allows its own files and its one inline script, by its hash', async () => {
  const answer = await ask('/main/default/events')
  const html = await answer.text()
  const inline = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  assert.equal(inline.length, 1)
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; /)
  assert.ok(policy.includes(`script-src 'self' ${inline[0]};`), policy)
  assert.ok(!/unsafe|\*|http/.test(policy), policy)
  assert.doesNotMatch(html, /\sstyle=|\son\w+=|<style/)
})

test('the server serves hashed files as immutable, and compressed for clients that accept it', async () => {
  const [, file = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await (await ask('/')).text()) ?? []
  const sizes = await Promise.all(['br', 'gzip', 'identity', 'br;q=0, gzip'].map((encoding) => encoded(file, encoding)))
  assert.deepEqual(
    sizes.map(({ encoding }) => encoding),
    ['br', 'gzip', undefined, 'gzip'],
  )
  assert.ok(Number(sizes[0]?.bytes) < Number(sizes[1]?.bytes) && Number(sizes[1]?.bytes) < Number(sizes[2]?.bytes))
  for (const { cache } of sizes) assert.equal(cache, 'public, max-age=31536000, immutable')
})

/** fetch would decompress the answer. */
function encoded(
  path: string,
  accepted: string,
): Promise<{ encoding: string | undefined; bytes: number; cache: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(world.baseUrl + path, { headers: { 'accept-encoding': accepted } }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'], bytes, cache: response.headers['cache-control'] }),
      )
    }).on('error', reject)
  })
}
