import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { withIo } from '../io.ts'
import { sourceOf } from './source.ts'

test('a stream opens later when its server cannot renew the access token now', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'postroad-cli-source-'))
  const server = createServer((_request, response) => response.writeHead(503).end('{}'))
  t.after(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const oauth = { access_token: 'old', refresh_token: 'once', expires_at: new Date().toISOString() }
  const profiles = { current: 'default', profiles: { default: { url, who: 'Ada', oauth } } }
  await writeFile(join(folder, 'profiles.json'), JSON.stringify(profiles))
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  await withIo({ env: { POSTROAD_CONFIG_DIR: folder }, stdin, stdout, stderr }, async () => {
    const source = await sourceOf({ project: 'prj_1' }, { detail: 'sender' })
    const opened = async (): Promise<string | undefined> => {
      try {
        await source.open('after', AbortSignal.timeout(10_000))
      } catch (error) {
        return source.retryable(error)
      }
      return undefined
    }
    assert.equal(await opened(), `${url} is too busy. Try again in a moment.`)
    server.closeAllConnections()
    server.close()
    assert.equal(await opened(), `${url} cannot be reached.`)
  })
})
