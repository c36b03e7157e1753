import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Accepted } from '@postroad/contract'
import { beginHere, run } from './command-line.ts'
import { Listen } from './listen-stage.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { remote } = stage

const post = (url: string, body: string) => fetch(url, { method: 'POST', body })

test('tail prints events since a time, and only those that meet a filter or belong to an endpoint', async () => {
  const { webhook } = await stage.client.webhooks.create({ name: 'Tailed' })
  await post(stage.endpoint, '{"type":"order.paid","amount":5}')
  await post(webhook.public_url, '{"type":"order.open","amount":5000}')
  const since = ['tail', '--since', '1h']
  const { stdout, code } = await run([...since, '--count', '2'], remote())
  assert.equal(code, 0)
  assert.match(
    stdout,
    /^\d\d:\d\d:\d\d\.\d{3} {2}event {5}order\.paid +first {2}unattempted {2}rec_\w+…?\n\d\d:\d\d:\d\d\.\d{3} {2}event {5}order\.open +tailed {2}unattempted {2}rec_/,
  )
  for (const args of [
    ['--filter', 'amount > 1000'],
    ['--filter', '{"path":"type","op":"regex","value":"open$"}'],
    ['--endpoint', 'tailed'],
  ]) {
    const end = await run([...since, ...args, '--count', '1', '--json'], remote())
    assert.equal(JSON.parse(end.stdout).data.amount, 5_000, args.join(' '))
  }
  refused(await run(['tail', '--endpoint', 'nobody'], remote()), { code: 4, stderr: /no endpoint "nobody"/ })
})

test('tail finds events by their request, also by a member of its query that occurs twice', async () => {
  const { webhook } = await stage.client.webhooks.create({ name: 'Asked', slug: 'asked' })
  const url = `${webhook.public_url}?tag=a&tag=b`
  for (const topic of ['orders', 'customers'])
    await fetch(url, { method: 'POST', headers: { 'X-Topic': topic }, body: `{"of":"${topic}"}` })
  for (const filter of [
    '$request.headers.x-topic = customers',
    '{"path":"$request.headers.x-topic","op":"in","value":["customers"]}',
    '$request.path exists',
  ]) {
    const args = ['--filter', filter, '--filter', '$request.query.tag.1 = b', '--filter', 'of = customers']
    const { stdout } = await run(['tail', '--since', '1h', '--count', '1', '--json', ...args], remote())
    assert.equal(JSON.parse(stdout).data.of, 'customers', filter)
  }
})

test('tail --failed prints refusals and deliveries that fail, and no event', async (t) => {
  const child = new Listen(beginHere(['tail', '--failed', '--json'], remote()))
  t.after(() => child.kill())
  await stage.client.destinations.create({
    name: 'failing',
    url: stage.bad.url,
    datasets: ['failing'],
    retry: { schedule_seconds: [0, 86_400] },
  })
  const { webhook } = await stage.client.webhooks.create({ name: 'Failing', dataset: 'failing' })
  const { webhook: closed } = await stage.client.webhooks.create({
    name: 'Closed',
    verification: { scheme: 'code_host', secret: 'the secret' },
  })
  const sending = new AbortController()
  t.after(() => sending.abort())
  const lines = Promise.all([child.line(/"type":"rejection"/), child.line(/"type":"delivery"/)])
  // The stream can open after the first refusal or delivery, and shows them a second later.
  const seen = { both: false }
  void lines.then(() => Object.assign(seen, { both: true }))
  while (!seen.both && !sending.signal.aborted) {
    await post(closed.public_url, '{}')
    const { records } = (await (await post(webhook.public_url, '{}')).json()) as Accepted
    await stage.delivered(records[0]?.id ?? '', 'retrying')
    stage.advance(1_000)
  }
  const [refusal, delivery] = (await lines).map((line) => JSON.parse(line))
  assert.deepEqual([refusal.reason, delivery.state, delivery.last_status], ['missing_header', 'retrying', 500])
  assert.ok(child.lines.every((line) => !line.includes('"type":"record"')))
  child.signal('SIGINT')
  assert.equal(await child.ended, 0)
})
