import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { SIGNED_SENDERS } from '../../src/parts/senders.ts'
import { snippetsOf } from '../../src/screens/capture/endpoints/snippets.ts'
import { COMMANDS, curlOf } from '../../src/screens/capture/events/commands.ts'
import { signedCurl } from '../../src/screens/capture/events/signed-commands.ts'
import { SAMPLE_TEXT } from '../../src/screens/capture/events/sample.ts'

/** Runs the commands that the console prints, as people run them. A new file is proof of an injected command. */

type Got = { readonly url: string; readonly headers: readonly string[]; readonly body: string }

const got: Got[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    got.push({ url: request.url ?? '', headers: request.rawHeaders, body: Buffer.concat(chunks).toString() })
    response.end('ok')
  })
})
let origin = ''
let folder = ''
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  folder = mkdtempSync(join(tmpdir(), 'postroad-test-'))
  writeFileSync(join(folder, 'secret'), 'contents of a file')
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

async function sent(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<Got> {
  got.length = 0
  const all = { PATH: process.env['PATH'] ?? '', no_proxy: '*', ...env }
  await promisify(execFile)(file, args, { cwd: folder, env: all })
  assert.deepEqual(readdirSync(folder), ['secret'], args.join(' '))
  const [one] = got
  assert.ok(one !== undefined && got.length === 1, args.join(' '))
  return one
}

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0
const hasPython = has('python3')
const skip = has('curl') ? false : 'SKIPPED, NOT PROVED HERE: there is no curl'

/** Characters that a URL contains unescaped, and that a shell or a program would run or read as the end of a text. */
const PATHS = ["/a'$(touch${IFS}pwned)'`touch${IFS}pwned`;touch pwned", '/a{1,2}[3-4]?b=$c&d=(e)!*~', "/'+x+'/%24"]
/** Bodies that a stored event can have. */
const BODIES = [
  '@secret',
  'it\'s `touch pwned` $(touch pwned) \\ "x"\n\n',
  '\u001b[201~\r; touch pwned',
  '-o pwned',
  'über 🚚',
]

test('the command of an event sends the same bytes again', { skip }, async () => {
  for (const body of BODIES) {
    const value = "v'1 $(touch pwned) `touch pwned` @secret"
    const headers = { 'content-type': 'text/plain', 'x-tenant': value, 'x-at': '@secret' }
    const one = await sent('sh', ['-c', curlOf({ url: `${origin}/in`, headers, body })])
    assert.equal(one.body, body)
    assert.equal(one.headers[one.headers.indexOf('x-tenant') + 1], value)
    assert.equal(one.headers[one.headers.indexOf('x-at') + 1], '@secret')
  }
})

test(
  'the commands of the first run and of an endpoint make one request to its URL, even if the URL is hostile',
  { skip },
  async () => {
    for (const path of PATHS) {
      const url = origin + path.replaceAll(' ', '%20')
      // A stored header name can be older than the check of names.
      const setup = snippetsOf(url, "X-'$(touch pwned)'`x`|y")
      const named = snippetsOf(url, 'X-Signature')
      const wanted = new URL(url)
      for (const { curl, Node, Python } of [
        { ...named, Node: '', Python: '' },
        { ...COMMANDS, curl: COMMANDS.curl(url), Node: COMMANDS.Node(url), Python: COMMANDS.Python(url) },
      ]) {
        const programs = [
          ['sh', '-c', curl],
          ...(Node === '' ? [] : [[process.execPath, '--input-type=module', '-e', Node]]),
          ...(Python === '' || !hasPython ? [] : [['python3', '-c', Python]]),
        ]
        for (const [file = '', ...args] of programs) {
          const one = await sent(file, args)
          assert.deepEqual(JSON.parse(one.body), JSON.parse(SAMPLE_TEXT))
          assert.equal(decodeURIComponent(one.url), decodeURIComponent(wanted.pathname + wanted.search), file)
        }
      }
      // curl can refuse the name, but it must not run it.
      await promisify(execFile)('sh', ['-c', setup.curl], { cwd: folder }).catch(() => undefined)
      for (const program of [setup.Node, setup.Python])
        assert.ok(program.includes(`"X-'$(touch pwned)'\`x\`|y": signature`))
      assert.deepEqual(readdirSync(folder), ['secret'])
    }
  },
)

test('the commands take the URL from the environment while it is hidden', { skip }, async () => {
  const { curl, Node, Python } = snippetsOf(undefined)
  const env = { ENDPOINT_URL: `${origin}/hidden` }
  assert.equal((await sent('sh', ['-c', curl], env)).url, '/hidden')
  assert.equal((await sent(process.execPath, ['--input-type=module', '-e', Node], env)).url, '/hidden')
  if (hasPython) assert.equal((await sent('python3', ['-c', Python], env)).url, '/hidden')
})

test('a signed command never runs a part of its secret, its prefix or its URL', { skip }, async () => {
  const hmac = SIGNED_SENDERS.find(({ verification }) => verification.scheme === 'hmac')
  assert.ok(hmac !== undefined)
  const hostile = "p'$(touch pwned)`touch pwned`="
  const verification = { ...hmac.verification, header: 'X-Signed', prefix: hostile }
  for (const path of PATHS) {
    const url = origin + path.replaceAll(' ', '%20')
    const one = await sent('sh', ['-c', signedCurl({ sender: { ...hmac, verification }, url, secret: hostile })])
    assert.ok(one.headers[one.headers.indexOf('X-Signed') + 1]?.startsWith(hostile))
    assert.equal(one.body, SAMPLE_TEXT)
  }
})
