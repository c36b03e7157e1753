import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './command-line.ts'
import { onServer, refused } from './server-stage.ts'

const stage = onServer()
const { ok, json, quiet, remote, delivered } = stage

test('the command line lists an event, and shows its data byte for byte with its deliveries', async () => {
  await ok(['destinations', 'create', stage.good.url, '--name', 'good'])
  const id = await quiet(['send', '-d', '{"n":12345678901234567890,"t":"\\u001b[31m","e":{},"l":[1,[]]}'])
  await delivered(id, 'delivered')
  const row = (await ok(['events', 'list'])).split('\n').find((line) => line.includes(id))
  assert.match(row ?? '', /^\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}rec_\w{26} {2}events +\{"n":/)
  const text = await ok(['events', 'get', id])
  assert.match(text, new RegExp(`^Event {7}${id} {2}in events\nReceived {4}.* UTC\nSubmission {2}sub_\\w{26}\n\n`))
  assert.ok(
    text.includes(
      '\n{\n  "n": 12345678901234567890,\n  "t": "\\u001b[31m",\n  "e": {},\n  "l": [\n    1,\n    []\n  ]\n}\n',
    ),
    text,
  )
  assert.match(
    text,
    /\nState {8}Changed \(UTC\) {7}Delivery {24}Destination\n● delivered {2}\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}dlv_\w{26} {2}/,
  )
  const shown = await json(['events', 'get', id])
  assert.deepEqual(shown, {
    ...(await stage.client.records.get({ id })),
    ...(await stage.client.deliveries.list({ record_id: id })),
  })
  assert.equal(await quiet(['events', 'list', '--dataset', 'nothing']), '')
})

test('the command line lists deliveries by state, destination and event, shows one with its attempts, and replays it once it has ended', async () => {
  // The next attempt is in the future by the clock of this machine too, which does not wait for the test.
  const retry = '{"retry":{"schedule_seconds":[0,86400]}}'
  await ok(['destinations', 'create', stage.bad.url, '--name', 'bad', '--dataset', 'failing', '-d', retry])
  await stage.client.webhooks.create({ name: 'Failing', dataset: 'failing' })
  const event = await quiet(['send', 'failing'])
  const id = await delivered(event, 'retrying')
  for (const filter of [
    ['--event', event],
    ['--state', 'retrying'],
    ['--destination', 'bad'],
  ])
    assert.ok((await quiet(['deliveries', 'list', ...filter])).split('\n').includes(id), filter.join(' '))
  assert.match(
    await ok(['deliveries', 'list', '--destination', 'bad']),
    new RegExp(`\n▲ retrying {2}\\d\\d-\\d\\d \\S+ {2}${id} {2}bad`),
  )
  const text = await ok(['deliveries', 'get', id])
  assert.match(
    text,
    new RegExp(
      `^Delivery +${id}\nState +▲ retrying\nEvent +${event} {2}in failing\nDestination +dst_\\w{26} {2}bad\nCreated +.* UTC\nNext attempt +.* UTC\n\n`,
    ),
  )
  assert.match(text, /\n1 {2}\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d+ ms {2}initial {2,}500(?: {2,}att_\w{26})?\n/)
  assert.match(text, /\nThe last response\n\\x1b\[31mno room\n$/)
  const again = await run(['deliveries', 'replay', id], remote())
  refused(again, { code: 1, stderr: /^postroad: .*has not ended yet.*\n$/ })

  const ended = await delivered(await quiet(['send', 'first', '-d', '{"amount":5000}']), 'delivered')
  assert.match(await ok(['deliveries', 'get', ended]), new RegExp(`\nNext {9}postroad deliveries replay ${ended}\n`))
  assert.match(
    await ok(['deliveries', 'replay', ended]),
    new RegExp(`^Replayed {2}${ended} .*\nNext {6}postroad deliveries get ${ended}\n$`),
  )
  assert.equal(await ok(['deliveries', 'list', '--state', 'cancelled']), 'No deliveries match the filters.\n')
  const shown = await json(['deliveries', 'get', id])
  assert.equal(shown.delivery.attempts[0].response_status, 500)
})

test('the command line replays many deliveries from a plan, runs immediately with --yes, and recovers a destination with its deliveries', async () => {
  const { destination } = await stage.client.destinations.create({
    name: 'broken',
    url: stage.bad.url,
    datasets: ['broken'],
    retry: { schedule_seconds: [0] },
  })
  for (const n of [1, 2]) await fetch(`${stage.endpoint}/broken`, { method: 'POST', body: JSON.stringify({ n }) })
  await stage.idle()
  const which = ['deliveries', 'replay', '--destination', 'broken', '--state', 'failed', '--since', '1h']
  assert.match(
    await ok([...which, '--dry-run']),
    /^Deliveries {2}2\nRepeats {5}none\nPayloads {4}14 bytes\nTakes {7}under a minute\nTo {10}2 {2}broken\n$/,
  )
  refused(await run(which, remote()), { code: 2, stderr: /^postroad: .*--dry-run, then add --yes\.\n$/ })
  refused(await run(['deliveries', 'replay'], remote()), { code: 2, stderr: /--destination/ })
  const { plan, replay } = await stage.whileTimePasses(json([...which, '--yes']))
  assert.deepEqual([plan.count, replay.state, replay.replayed], [2, 'done', 2])
  assert.match(await ok(['replays', 'list']), new RegExp(`done .*${replay.id} .*2 of 2`))
  refused(await run(['replays', 'cancel', replay.id], remote()), { code: 1, stderr: /has ended/ })
  assert.match(
    await ok(['destinations', 'recover', 'broken', '--since', '1h', '--dry-run']),
    /Waiting {5}\d+ {2}Postroad sends them/,
  )
  assert.equal(
    (await json(['destinations', 'recover', 'broken', '--since', '2020-01-01T00:00:00Z', '--yes', '--detach']))
      .destination.id,
    destination.id,
  )
  assert.match(
    await ok(['destinations', 'health', 'broken']),
    new RegExp(`^Destination {2}${destination.id} {2}(?:● on|▲ failing)\n`),
  )
})

test('the command line tests a destination, and retries and cancels a waiting delivery', async () => {
  const { destination } = await stage.client.destinations.create({
    name: 'patient',
    url: stage.bad.url,
    datasets: ['patient'],
  })
  const failed = await run(['destinations', 'test', 'patient'], remote())
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /^Answer {4}500\n/)
  assert.match(failed.stderr, /it answered 500/)
  const { destination: fine } = await stage.client.destinations.create({
    name: 'fine',
    url: stage.good.url,
    datasets: ['nothing'],
  })
  assert.match(await ok(['destinations', 'test', fine.id]), /^Answer {4}200\n[^]*Response {2,}thanks\n$/)
  const event = (await (await fetch(`${stage.endpoint}/patient`, { method: 'POST', body: '{}' })).json()) as {
    records: { id: string }[]
  }
  const id = await delivered(event.records[0]?.id ?? '', 'retrying')
  assert.match(await ok(['deliveries', 'retry', id]), new RegExp(`^Retried {2}${id} `))
  await delivered(event.records[0]?.id ?? '', 'retrying')
  assert.match(await ok(['deliveries', 'cancel', id]), new RegExp(`^Canceled {2}${id} `))
  await stage.client.destinations.remove({ id: destination.id })
})

test('the list, the filter, the details and the health report a delivery that an open breaker holds back, and the command line sends a probe immediately', async () => {
  const { destination } = await stage.client.destinations.create({
    name: 'dead',
    url: stage.bad.url,
    datasets: ['dead'],
  })
  for (let n = 0; n < 10; n += 1) await fetch(`${stage.endpoint}/dead`, { method: 'POST', body: '{}' })
  await stage.idle()
  const ids = (await quiet(['deliveries', 'list', '--destination', 'dead', '--held-by', 'any'])).split('\n')
  assert.equal(ids.length, 10)
  assert.equal(await quiet(['deliveries', 'list', '--destination', 'dead', '--held-by', 'rate_limit']), '')
  assert.match(await ok(['deliveries', 'list', '--destination', 'dead']), /\n■ held {2}\d\d-/)
  const [id = ''] = ids
  const text = await ok(['deliveries', 'get', id])
  assert.match(text, /\nState {8}■ held\n/)
  assert.match(text, /\nHeld by {6}the breaker is open\n {13}since .* UTC, last error 500\nNext probe {3}.* UTC\n/)
  assert.match(text, new RegExp(`\nNext {9}postroad destinations probe ${destination.id}\n`))
  assert.ok(!text.includes('Next attempt'), 'a time in the past is not the next attempt')
  assert.match(
    await ok(['deliveries', 'retry', id]),
    /due now, but the breaker is open\nProbe {4}postroad destinations probe /,
  )
  assert.match(await ok(['destinations', 'list']), /■ breaker open {2,}dst_/)
  const health = await ok(['destinations', 'health', 'dead'])
  assert.match(health, new RegExp(`^Destination {2}${destination.id} {2}■ breaker open\n`))
  assert.match(health, /\nHeld back {4}10 {2}the breaker is open\n.*\nNext probe {3}.* UTC\n$/)
  assert.match(await ok(['destinations', 'probe', 'dead']), new RegExp(`^Probe {2}${destination.id} {2}sent now`))
  await stage.client.destinations.remove({ id: destination.id })
})
