import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { aDestination, run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { local, remote } = stage

test('a command for a resource that does not exist ends with exit code 4', async () => {
  for (const args of [
    ['events', 'get', 'nope'],
    ['deliveries', 'get', 'dlv_01m7ys72kve0fb1zmh4gjtmv5x'],
    ['deliveries', 'replay', 'nope'],
    ['send', 'nobody'],
    ['deliveries', 'list', '--destination', 'nobody'],
    ['events', 'list', '--project', 'nobody'],
    ['send', `${stage.baseUrl}/main/default/nothing`],
  ])
    refused(await run(args, remote()), { code: 4, stderr: /^postroad: .+\.\n$/ })
})

test('a command without permission ends with exit code 3, and never sends the key of this machine to another server', async () => {
  refused(await run(['events', 'list'], remote({ SERVICE_TOKEN: 'hk_nobody' })), {
    code: 3,
    stderr: /^postroad: The server does not accept this API key\. Set SERVICE_TOKEN/,
  })
  refused(await run(['events', 'list', '--url', 'https://hooks.example.com'], local()), {
    code: 3,
    stderr:
      /^postroad: Run postroad login --url https:\/\/hooks\.example\.com, or set SERVICE_TOKEN to an API key of https:\/\/hooks\.example\.com \(hk_…\)\.\n$/,
  })
  refused(await run(['events', 'list', '--url', 'http://127.0.0.1.example.com'], local()), {
    code: 3,
    stderr: /set SERVICE_TOKEN/,
  })
  const elsewhere = { PORT: new URL(stage.baseUrl).port, DATA_DIR: join(stage.folder.path, 'other') }
  refused(await run(['events', 'list'], elsewhere), {
    code: 3,
    stderr:
      /^postroad: The folder \S+ does not exist\. Set SERVICE_TOKEN to an API key \(hk_…\), or DATA_DIR to the folder of the server\.\n$/,
  })
})

test('the command line reports in one line that no server answers, or that the server is not Postroad', async () => {
  refused(await run(['events', 'list'], { ...local(), PORT: '1' }), {
    code: 1,
    stderr:
      /^postroad: No Postroad server responds at http:\/\/127\.0\.0\.1:1\. Start it with "postroad start", or set --url or POSTROAD_URL to its address\.\n$/,
  })
  for (const args of [
    ['events', 'list', '--url', 'http://127.0.0.1:1'],
    ['send', 'http://127.0.0.1:1/a/b/c'],
  ])
    refused(await run(args, remote()), {
      code: 1,
      stderr: /^postroad: http:\/\/127\.0\.0\.1:1 cannot be reached\. Start the server with "postroad start", or set/,
    })
  refused(await run(['events', 'list', '--url', stage.good.url], remote()), {
    code: 1,
    stderr: /^postroad: .*did not respond with JSON\. /,
  })
})

test('a rate-limited command ends with exit code 5 and names the time to wait', async () => {
  const busy = await aDestination(429, '{"error":"Too many at once.","reason":"burst_limited","retry_after":30}')
  refused(await run(['send', busy.url], remote()), {
    code: 5,
    stderr: /^postroad: Too many at once\. Try again in 30 s\.\n$/,
  })
  busy.stop()
})

test('with --json a command prints a refusal as an object on stderr', async () => {
  const { code, stdout, stderr } = await run(['events', 'get', 'nope', '--json'], remote())
  assert.deepEqual([code, stdout], [4, ''])
  const { request_id, ...reported } = JSON.parse(stderr)
  assert.deepEqual(reported, {
    error: 'Nothing with this id exists here. Check the id, and check that it belongs to this workspace and project.',
    reason: 'not_found',
    status: 404,
  })
  assert.match(request_id, /^req_/)
})
