import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { curlCommand, programText, shellText, shellWord } from '../src/quoting.ts'

/** Texts that anyone can write into a name, a header or a body. */
const HOSTILE = [
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned',
  '| touch pwned',
  '&& touch pwned #',
  `'; touch pwned; '`,
  `"; touch pwned; "`,
  `'"'"'$(touch pwned)`,
  '\\',
  "\\'",
  'a\\nb\\0041',
  '%s%n%b',
  '!!',
  '~root',
  '=ls',
  '-o pwned',
  '--output=pwned',
  '@secret',
  '@-',
  '${HOME}',
  '*',
  '[a-z]{b,c}',
  'a  b\tc',
  'line one\nline two\n\n',
  '\r\nX-Injected: 1',
  'über 日本 🚚',
  '\u001b[201~touch pwned\r',
  '\u0003\u0004\u007f\u009b31m',
  '\u2028\u2029',
  '<script>&amp;',
  '{"type":"order","text":"it\'s $5 \\"now\\""}',
]

type Got = {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const got: Got[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    got.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    })
    response.end('ok')
  })
})
let url = ''
let folder = ''
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  folder = mkdtempSync(join(tmpdir(), 'postroad-test-'))
  writeFileSync(join(folder, 'secret'), 'contents of a file')
})
after(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command in a folder with one file, which must still be the only one afterwards. */
async function runs(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
  })
  assert.deepEqual(readdirSync(folder), ['secret'], args.join(' '))
  return stdout
}

const has = (program: string, ...args: string[]): false | string =>
  spawnSync(program, args).status === 0 ? false : `SKIPPED, NOT PROVED HERE: there is no ${program}`

test('a shell expands a quoted word to its text, alone and beside a variable', async () => {
  for (const text of HOSTILE) {
    assert.equal(await runs('sh', ['-c', `printf %s ${shellWord(text)}`]), text)
    assert.equal(
      await runs('sh', ['-c', `t='$(x)'; printf %s ${shellText([text, { variable: 't' }, text])}`]),
      `${text}$(x)${text}`,
    )
  }
  assert.equal(shellWord(''), "''")
})

test('no command contains a character that a terminal reads as a key', () => {
  for (const text of HOSTILE) {
    const command = curlCommand({ url: `${url}/${text}`, headers: { 'x-a': text }, body: `${text}\0` })
    // oxlint-disable-next-line no-control-regex -- these are the characters to find
    assert.doesNotMatch(command.replaceAll(/[\t\n]/g, ''), /[\u0000-\u001f\u007f-\u009f]/, JSON.stringify(text))
  }
})

test('curl sends each body as it is, reads no file and runs nothing', { skip: has('curl', '--version') }, async () => {
  for (const body of [...HOSTILE, 'a\0b', '']) {
    got.length = 0
    await runs('sh', ['-c', curlCommand({ url, options: ['-sS'], headers: { 'content-type': 'text/plain' }, body })])
    assert.deepEqual(
      got.map((one) => [one.method, one.body, one.headers['content-type']]),
      [['POST', body, 'text/plain']],
    )
  }
  got.length = 0
  const body = { variable: 'body' }
  await runs('sh', [
    '-c',
    `body=${shellWord('@secret')}\n${curlCommand({ url, options: ['-sS'], method: 'PATCH', body })}`,
  ])
  assert.deepEqual(
    got.map((one) => [one.method, one.body]),
    [['PATCH', '@secret']],
  )
})

test('curl sends each value of a header and each path as it is', { skip: has('curl', '--version') }, async () => {
  // HTTP headers and URLs contain no control characters, and no characters beyond ASCII that both sides read alike.
  for (const text of HOSTILE.filter((one) => /^[\x20-\x7e]+$/.test(one))) {
    got.length = 0
    const path = `/a[0]{1}?q=${encodeURIComponent(text)}`
    const headers = { 'x-value': text, '!#%&*+.^_~-': 'odd', 'x-empty': '', 'x-signed': [text, { variable: 'sig' }] }
    await runs('sh', ['-c', `sig='$(x)'\n${curlCommand({ url: url + path, options: ['-sS'], headers })}`])
    const [one] = got
    assert.equal(one?.method, 'GET')
    assert.equal(one.url, path)
    assert.equal(one.headers['x-value'], text.trim())
    assert.equal(one.headers['x-signed'], `${text}$(x)`.trim())
    assert.equal(one.headers['x-empty'], '')
    assert.equal(one.headers['!#%&*+.^_~-'], 'odd')
  }
})

test('a header whose stored name starts with @ reads no file', { skip: has('curl', '--version') }, async () => {
  got.length = 0
  await runs('sh', [
    '-c',
    curlCommand({ url, options: ['-sS'], headers: { '@secret': 'x', "x-$(touch pwned)'": 'y' } }),
  ]).catch(() => '')
  assert.deepEqual(readdirSync(folder), ['secret'])
  assert.doesNotMatch(JSON.stringify(got), /contents of a file/)
})

test('a program reads a quoted string as its text: JavaScript', async () => {
  const program = `process.stdout.write(JSON.stringify([${HOSTILE.map(programText).join(', ')}]))`
  assert.deepEqual(JSON.parse(await runs(process.execPath, ['-e', program])), HOSTILE)
})

test('a program reads a quoted string as its text: Python', { skip: has('python3', '-c', '') }, async () => {
  const program = `import json\nprint(json.dumps([${HOSTILE.map(programText).join(', ')}]))`
  assert.deepEqual(JSON.parse(await runs('python3', ['-c', program])), HOSTILE)
})

test('a quoted string has no lone surrogate, which Go refuses', () => {
  assert.equal(programText('a\ud800b'), '"a\ufffdb"')
})
