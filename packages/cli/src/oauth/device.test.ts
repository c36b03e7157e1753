import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, run } from '../../test/command-line.ts'

test('login by device continues to wait when a poll gets no response, until the person decides', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postroad-cli-device-'))
  const begun = {
    device_code: 'd',
    user_code: 'ABCD',
    verification_uri_complete: 'http://x',
    expires_in: 60,
    interval: 0,
  }
  let questions = 0
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/device_authorization') === true) return response.end(JSON.stringify(begun))
    questions += 1
    if (questions === 1) return request.socket.destroy()
    if (questions === 2) return response.writeHead(502).end('<h1>Bad gateway</h1>')
    return response.writeHead(400).end('{"error":"access_denied"}')
  })
  t.after(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  refused(await run(['login', '--device', '--url', url], { POSTROAD_CONFIG_DIR: folder }), {
    code: 3,
    stderr: /Code {3}ABCD[^]*postroad: You denied the request in the browser\.\n$/,
  })
})
