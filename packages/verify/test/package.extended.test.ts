import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connectBrowser, noBrowser } from '../../console/test/stage/shared-browser.ts'
import { BUNDLER, NODE_NEXT, Stranger, succeeds } from '../../sdk/test/stranger.ts'
import { eventually } from '../../server/test/stage/harness.ts'

/** The package as a user installs it. */
const stranger = new Stranger('verify')

before(() => stranger.install())
after(() => stranger.remove())

test('the package depends on nothing, and its modules for browsers import nothing of Node', () => {
  const manifest = JSON.parse(readFileSync(join(stranger.installed, 'package.json'), 'utf8'))
  assert.deepEqual(
    ['dependencies', 'peerDependencies', 'optionalDependencies', 'scripts', 'private', 'imports'].filter(
      (name) => name in manifest,
    ),
    [],
  )
  for (const folder of ['web', 'presets'])
    for (const file of readdirSync(join(stranger.installed, folder))) {
      const text = readFileSync(join(stranger.installed, folder, file), 'utf8')
      const imported = [...text.matchAll(/(?:\bfrom |\bimport\(|^import )'([^']+)'/gm)].map((match) => match[1] ?? '')
      assert.deepEqual(
        imported.filter((name) => !/^\.\.?\/[\w/-]+\.js$/.test(name)),
        [],
        `imports of ${folder}/${file}`,
      )
    }
})

test('the programs of the README compile under nodenext and bundler', async () => {
  const names = stranger.examples().map(([name]) => name)
  assert.deepEqual(names, ['receive.ts', 'worker.ts', 'scheme.ts', 'explain.ts', 'token.ts', 'certificate.ts'])
  for (const options of [NODE_NEXT, BUNDLER])
    assert.equal(await stranger.complaints(names, { ...options, lib: ['es2023', 'dom', 'dom.iterable'] }), '')
})

test('the programs of the README do what it says', async () => {
  const run = (program: string): Promise<string> => succeeds(process.execPath, [program], { cwd: stranger.project })
  assert.equal((await run('scheme.ts')).trim(), 'verified')
  assert.match(await run('explain.ts'), /^false The signature is valid for the body with its JSON compacted/)
  stranger.write(
    'try.ts',
    `import { sign } from '@postroad/verify'
     import { presets } from '@postroad/verify/presets'
     import { handle } from './worker.ts'
     const headers = await sign({ sender: presets.github, secret: 's', body: '{}' })
     for (const body of ['{}', '{ }'])
       console.log((await handle(new Request('http://a.test', { method: 'POST', headers, body }), 's')).status)`,
  )
  assert.deepEqual((await run('try.ts')).trim().split('\n'), ['200', '401'])
})

test('the receiver of the README accepts what Stripe signs and refuses the rest', async () => {
  const port = await freePort()
  const secret = 'whsec_of_the_readme'
  const env = {
    ...process.env,
    PORT: String(port),
    STRIPE_WEBHOOK_SECRET: secret,
    NODE_OPTIONS: '',
    NODE_TEST_CONTEXT: '',
  }
  const receiver = spawn(process.execPath, ['receive.ts'], { cwd: stranger.project, env })
  try {
    const body = '{"id":"evt_1"}'
    const time = Math.floor(Date.now() / 1_000)
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    const sent = (v1: string): Promise<number> =>
      fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        body,
        headers: { 'stripe-signature': `t=${time},v1=${v1}` },
      }).then(
        ({ status }) => status,
        () => 0,
      )
    const first = await eventually('the receiver listens', async () => (await sent(signature)) || undefined)
    assert.equal(first, 200)
    assert.equal(await sent(signature.replace(/^./, 'g')), 401)
  } finally {
    receiver.kill()
  }
})

test(
  'a browser loads the modules without a bundler, and checks digests and public keys',
  { skip: noBrowser },
  async () => {
    const server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://a.test').pathname
      if (path === '/') return response.setHeader('content-type', 'text/html').end('<!doctype html>')
      if (!path.endsWith('.js')) return response.writeHead(404).end()
      return response.setHeader('content-type', 'text/javascript').end(readFileSync(join(stranger.installed, path)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const browser = await connectBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      const states = await page.evaluate(`(async () => {
      const { verify, sign } = await import('/web/index.js')
      const { presets } = await import('/presets/index.js')
      const github = { sender: presets.github, secret: 's', body: '{}' }
      const headers = await sign(github)
      const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
      const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
      const secret = base64(await crypto.subtle.exportKey('spki', pair.publicKey))
      const content = new TextEncoder().encode('1700000000{}')
      const signature = base64(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, content))
      const sendgrid = { sender: presets.sendgrid, secret, now: 1_700_000_000_000, headers: {
        'x-twilio-email-event-webhook-signature': signature, 'x-twilio-email-event-webhook-timestamp': '1700000000' } }
      const verdicts = await Promise.all([
        verify({ ...github, headers }), verify({ ...github, headers, body: '{ }' }),
        verify({ ...sendgrid, body: '{}' }), verify({ ...sendgrid, body: '[]' }) ])
      return verdicts.map(({ state }) => state)
    })()`)
      assert.deepEqual(states, ['verified', 'failed', 'verified', 'failed'])
    } finally {
      await browser.close()
      server.close()
      server.closeAllConnections()
    }
  },
)

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createSocketServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
