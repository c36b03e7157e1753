import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, run } from '../../test/command-line.ts'

test('a command whose connection has ended names the command that connects again, not a server that is down', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postroad-cli-tokens-'))
  const server = createServer((_request, response) => response.writeHead(400).end('{"error":"invalid_grant"}'))
  t.after(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const oauth = { access_token: 'old', refresh_token: 'ended', expires_at: new Date().toISOString() }
  const profiles = { current: 'default', profiles: { default: { url, who: 'Ada', oauth } } }
  await writeFile(join(folder, 'profiles.json'), JSON.stringify(profiles))
  refused(await run(['events', 'list', '--project', 'prj_1'], { POSTROAD_CONFIG_DIR: folder }), {
    code: 3,
    stderr: new RegExp(
      `^postroad: This command line is no longer connected to ${url}\\. Run .*login --url ${url}\\.\n$`,
    ),
  })
})
