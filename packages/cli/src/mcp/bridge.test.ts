import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, test } from 'node:test'
import { runBridge } from './bridge.ts'

/** Tests the bridge against a server whose answers each test sets. */
type Asked = { readonly headers: IncomingHttpHeaders; readonly body: { readonly id?: number; readonly method: string } }
type Reply = (asked: Asked, response: ServerResponse) => void

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function aServer(reply: Reply): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () =>
      reply({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) }, response),
    )
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

type Ran = { readonly lines: readonly string[]; readonly reports: readonly string[] }

/** Runs the bridge on these lines. */
async function ran(url: string, ...lines: readonly object[]): Promise<Ran> {
  const input = new PassThrough()
  input.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const [written, reports]: [string[], string[]] = [[], []]
  await runBridge({
    url,
    headers: async () => ({ Authorization: 'Bearer hk_x' }),
    input,
    write: (line) => written.push(line),
    report: (sentence) => reports.push(sentence),
  })
  return { lines: written, reports }
}

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
const request = (id: number, method: string, params: object = {}): object => ({ jsonrpc: '2.0', id, method, params })

test('the headers of a request contain the version that initialize agreed on, its method and its name', async () => {
  const heard: IncomingHttpHeaders[] = []
  const url = await aServer(({ headers, body }, response) => {
    heard.push(headers)
    json(response, 200, { jsonrpc: '2.0', id: body.id, result: { protocolVersion: '2025-06-18' } })
  })
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  await ran(
    url,
    request(1, 'initialize'),
    request(2, 'tools/call', { name: 'whoami' }),
    request(3, 'resources/read', { uri: 'postroad://docs/ä', _meta: meta }),
  )
  const seen = heard
    .map((headers) => [
      headers['mcp-protocol-version'],
      headers['mcp-method'],
      headers['mcp-name'],
      headers.authorization,
    ])
    .toSorted((a, b) => String(a[1]).localeCompare(String(b[1])))
  assert.deepEqual(seen, [
    [undefined, 'initialize', undefined, 'Bearer hk_x'],
    [
      '2026-07-28',
      'resources/read',
      `=?base64?${Buffer.from('postroad://docs/ä').toString('base64')}?=`,
      'Bearer hk_x',
    ],
    ['2025-06-18', 'tools/call', 'whoami', 'Bearer hk_x'],
  ])
})

test('the bridge turns a refusal into an error of its request, and a stream into lines', async () => {
  const url = await aServer(({ body }, response) => {
    if (body.method === 'limited')
      json(response, 429, { jsonrpc: '2.0', id: null, error: { code: -32_029, message: 'Too many requests.' } })
    else if (body.method === 'refused') json(response, 403, { error: 'Not from here.', reason: 'ip_not_allowed' })
    else if (body.method === 'html')
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    else if (body.method === 'streamed') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: message\ndata: {"jsonrpc":"2.0","method":"notice"}\n\nevent: mess')
      response.end(`age\ndata: {"jsonrpc":"2.0",\ndata: "id":${body.id},"result":{}}\n\n`)
    } else response.writeHead(202).end()
  })
  const { lines, reports } = await ran(
    url,
    request(1, 'limited'),
    request(2, 'refused'),
    request(3, 'html'),
    request(4, 'streamed'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    [1],
  )
  const answers = lines.map((line) => JSON.parse(line))
  const of = (id: number | null): { error: { code: number; message: string; data?: { reason: string } } } =>
    answers.find((answer) => answer.id === id)
  assert.deepEqual([of(1).error.code, of(2).error.data?.reason], [-32_029, 'ip_not_allowed'])
  assert.deepEqual([of(2).error.message, of(3).error.message], ['Not from here.', 'The server returned 502.'])
  assert.equal(of(null).error.code, -32_700)
  assert.ok(answers.some(({ method }) => method === 'notice'))
  assert.deepEqual([answers.length, reports], [6, []])
})

test('the bridge reports an unreachable server with its address, and reports a refused notification', async () => {
  const url = await aServer((_asked, response) => json(response, 401, { error: 'No.' }))
  const notice = { jsonrpc: '2.0', method: 'notifications/initialized' }
  assert.deepEqual((await ran(url, notice)).reports, ['The server refused notifications/initialized with 401.'])
  const [away] = servers
  away?.close()
  away?.closeAllConnections()
  const { lines } = await ran(url, request(9, 'tools/list'))
  const { id, error } = JSON.parse(lines[0] ?? '')
  assert.equal(id, 9)
  assert.ok(error.message.startsWith(`The server at ${new URL(url).origin} does not respond: `), error.message)
})

test('a canceled request ends at the server, and the client gets no answer for it', async () => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const url = await aServer((_asked, response) => {
    response.on('close', () => left.resolve())
    arrived.resolve()
  })
  const input = new PassThrough()
  const written: string[] = []
  const running = runBridge({
    url,
    headers: async () => ({}),
    input,
    write: (line) => written.push(line),
    report: (sentence) => written.push(sentence),
  })
  input.write(`${JSON.stringify(request(1, 'tools/call'))}\n`)
  await arrived.promise
  input.end(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })}\n`)
  await Promise.all([running, left.promise])
  assert.deepEqual(written, [])
})
