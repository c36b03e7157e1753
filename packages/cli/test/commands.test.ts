import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { createClient, type Client } from '@postroad/sdk'
import { aDestination, aFolder, begin, launch, run, startServer, stopServers, type Ended, type Environment, type Started } from './command-line.ts'

let folder: Awaited<ReturnType<typeof aFolder>>
let server: Started
let apiKey: string
let client: Client
let good: Awaited<ReturnType<typeof aDestination>>
let bad: Awaited<ReturnType<typeof aDestination>>

before(async () => {
  folder = await aFolder()
  server = await startServer(join(folder.path, 'data'))
  apiKey = JSON.parse((await run(['bootstrap', '--json'], local())).stdout).api_key
  client = createClient({ baseUrl: server.baseUrl, token: apiKey })
  good = await aDestination(200, 'thanks')
  bad = await aDestination(500, '\u001b[31mno room\n')
})
after(async () => {
  good.stop()
  bad.stop()
  await stopServers()
  await folder.remove()
})

/** The environment of the machine of the server. */
const local = (): Environment => ({ DATA_DIR: join(folder.path, 'data'), PORT: new URL(server.baseUrl).port })
/** The environment of any other machine. */
const remote = (env: Environment = {}): Environment => ({ SERVICE_URL: server.baseUrl, SERVICE_TOKEN: apiKey, ...env })

/** A command that ends well; gives what it printed. */
async function ok(args: readonly string[], env: Environment = remote(), input = ''): Promise<string> {
  const { code, stdout, stderr } = await run(args, env, input)
  assert.equal(stderr, '')
  assert.equal(code, 0)
  for (const line of stdout.split('\n')) if (!line.startsWith('{')) assert.ok(line.length <= 80, `wider than 80: ${line}`)
  return stdout
}

const json = async (args: readonly string[], env?: Environment) => JSON.parse(await ok([...args, '--json'], env))
const quiet = async (args: readonly string[]) => (await ok([...args, '--quiet'])).trim()

/** Two at a time. */
async function all(commands: readonly (readonly string[])[], check: (args: readonly string[]) => Promise<void>): Promise<void> {
  const left = [...commands]
  const next = async (): Promise<void> => {
    for (let args = left.shift(); args !== undefined; args = left.shift()) await check(args)
  }
  await Promise.all([next(), next()])
}

/** Waits for a delivery of the event to reach this state. */
async function delivered(event: string, state: 'delivered' | 'retrying'): Promise<string> {
  for (let turn = 0; turn < 200; turn += 1) {
    const { deliveries } = await client.deliveries.list({ record_id: event, state })
    if (deliveries[0] !== undefined) return deliveries[0].id
    await sleep(25)
  }
  throw new Error(`No delivery of ${event} is ${state}.`)
}

function refused(end: Ended, wanted: { code: number; stderr: RegExp }): void {
  assert.equal(end.code, wanted.code, end.stderr)
  assert.equal(end.stdout, '')
  assert.match(end.stderr, wanted.stderr)
  assert.doesNotMatch(end.stderr, /\n {4}at /)
}

test('on the machine of the server no token is needed', async () => {
  assert.match(await ok(['endpoints', 'list'], local()), new RegExp(`^first {2}First endpoint · files into events · open to anyone\n${server.endpoint}\n$`))
})

test('--json prints exactly what the API answers, and --quiet the ids', async () => {
  await client.webhooks.create({ name: 'Second' })
  const answers = { endpoints: client.webhooks.list({ limit: 20 }), events: client.records.list({ limit: 20 }), deliveries: client.deliveries.list({ limit: 20 }), destinations: client.destinations.list({ limit: 20 }) }
  for (const [noun, answer] of Object.entries(answers)) assert.deepEqual(await json([noun, 'list']), await answer, noun)
  assert.equal(await quiet(['endpoints', 'list']), (await answers.endpoints).webhooks.map(({ id }) => id).join('\n'))
})

test('a list goes on where the page before ended', async () => {
  const first = await ok(['endpoints', 'list', '--limit', '1'])
  const cursor = /There are more: add --cursor (\S+)/.exec(first)?.[1]
  assert.ok(cursor)
  assert.match(await ok(['endpoints', 'list', '-n', '1', '--cursor', cursor]), /^first {2}/)
})

test('before there is anything, each list says how to begin', async () => {
  const { project } = await client.projects.create({ name: 'Empty', slug: 'empty' })
  for (const [noun, words] of [['endpoints', 'There are no endpoints here.'], ['events', 'There are no events here. Send one: postroad send'], ['deliveries', 'There are no deliveries here. They begin with a destination: postroad destinations create https://…'], ['destinations', 'There are no destinations here. Make one: postroad destinations create https://…']] as const) {
    const { stdout } = await run([noun, 'list', '--project', 'empty'], remote())
    assert.equal(stdout, `${words}\n`)
    assert.equal(await quiet([noun, 'list', '--project', project.id]), '')
  }
  refused(await run(['send', '--project', 'empty'], remote()), { code: 4, stderr: /^postroad: This project has no endpoint to send to\.\n$/ })
})

test('send tells what was stored, where it goes and where it does not, and what to look at next', async () => {
  const alone = await ok(['send'])
  assert.match(alone, /^Stored {3}sub_\w{26} {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\nEvent {4}rec_\w{26} {2}in events\nGoes to {2}nobody yet; make a destination: .*\nNext {5}postroad events get rec_\w{26}\n$/)
  await ok(['destinations', 'create', good.url, '--name', 'good'])
  await ok(['destinations', 'create', good.url, '--name', 'orders only', '--dataset', 'orders'])
  await ok(['destinations', 'create', good.url, '--name', 'large', '-d', '{"conditions":[{"path":"amount","op":"gt","value":1000}]}'])
  const text = await ok(['send', 'first', '-d', '{"amount":12}'])
  assert.match(text, /→ good\n/)
  assert.match(text, /· not orders only: it takes other datasets\n/)
  assert.match(text, /· not large: only when amount gt 1000; it is 12\n/)
})

async function bodyOf(args: readonly string[], input = ''): Promise<string> {
  const id = (await ok(['send', ...args, '-q'], remote(), input)).trim()
  return (await client.records.get({ id })).record.data_text
}

test('the body of send is text, a file, stdin or a sample', async () => {
  const path = join(folder.path, 'event.json')
  await writeFile(path, '{"from":"file"}')
  assert.equal(await bodyOf(['-d', '{"n":12345678901234567890}']), '{"n":12345678901234567890}')
  assert.equal(await bodyOf(['-d', `@${path}`]), '{"from":"file"}')
  assert.equal(await bodyOf(['-d', '-'], '{"from":"stdin"}'), '{"from":"stdin"}')
  assert.equal(JSON.parse(await bodyOf(['--sample', 'payment'])).type, 'payment.succeeded')
  assert.equal(await bodyOf([]), '{"hello":"world"}')
})

test('send to a bare URL needs no token, and --json is the answer of the endpoint', async () => {
  const accepted = await json(['send', server.endpoint, '-d', '{"a":1}'], {})
  assert.equal(accepted.status, 'accepted')
  assert.match(await ok(['send', server.endpoint], {}), /^Stored .*\nEvent .*\nNext /)
})

test('send with a key stores an event once, and says that it is known', async () => {
  const key = `cli-${Date.now()}`
  const first = await json(['send', '-d', '{"a":1}', '--key', key])
  assert.equal(first.duplicate, false)
  assert.deepEqual(await json(['send', '-d', '{"a":1}', '--key', key]), { ...first, duplicate: true })
  assert.match(await ok(['send', '-d', '{"a":1}', '--key', key]), /^Known /)
  refused(await run(['send', '-d', '{"a":2}', '--key', key], remote()), { code: 1, stderr: /Idempotency-Key was used for another path or body/ })
  refused(await run(['send', '--key', 'with a space'], remote()), { code: 1, stderr: /1 to 255 printable/ })
})

test('send signs as each kind of sender does', async () => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ok!').toString('base64')}`
  for (const scheme of ['payments_provider', 'code_host', 'commerce_platform', 'chat_platform', 'standard_webhooks', 'hmac'] as const) {
    const { webhook } = await client.webhooks.create({ name: `Signed ${scheme}`, verification: { scheme, secret } })
    assert.match(await quiet(['send', webhook.slug, '--sign', secret]), /^rec_/)
    assert.match(await quiet(['send', webhook.public_url, '--sign', secret, '--scheme', scheme]), /^rec_/)
    refused(await run(['send', webhook.id, '--sign', 'wrong'], remote()), { code: 3, stderr: /^postroad: .*signature.*\n$/i })
  }
  const { webhook } = await client.webhooks.create({ name: 'Own hmac', verification: { scheme: 'hmac', secret, header: 'X-Sign', algorithm: 'sha1', encoding: 'base64', prefix: 'v=' } })
  assert.match(await quiet(['send', webhook.slug, '--sign', secret]), /^rec_/)
  refused(await run(['send', 'first', '--sign', secret], remote()), { code: 2, stderr: /^postroad: Say how to sign with --scheme: payments_provider, / })
  refused(await run(['send', '--scheme', 'hmac'], remote()), { code: 2, stderr: /--scheme needs --sign/ })
})

test('an event that its endpoint does not take is stored, and send says why it is filed nowhere', async () => {
  await client.webhooks.create({ name: 'Picky', criteria: [{ path: 'type', op: 'equals', value: 'paid' }] })
  assert.match(await ok(['send', 'picky', '-d', '{"type":"open"}']), /\nFiled {3}nowhere, since the endpoint takes it only when\n {8}type equals "paid"; it is "open"\n$/)
  assert.match(await ok(['send', 'picky', '-d', '{}']), /type equals "paid"; there is no such value\n$/)
})

test('api-keys lists the keys without showing one, and names what is not there', async () => {
  const { api_keys } = await json(['api-keys', 'list'])
  assert.equal(api_keys[0].shown_prefix, apiKey.slice(0, 11))
  const text = await ok(['api-keys', 'list'])
  assert.match(text, new RegExp(`^active +${api_keys[0].id} .*bootstrap +admin`, 'm'))
  assert.ok(!text.includes(apiKey))
  refused(await run(['api-keys', 'revoke', 'key_01kf0rdqg0e31tkzsaqv275w2x'], remote()), { code: 4, stderr: /There is nothing with this id here/ })
})

test('api-keys revoke ends a key at once; on the machine of the server there is a new one then', async () => {
  const [{ id }] = (await json(['api-keys', 'list'])).api_keys
  assert.match(await ok(['api-keys', 'revoke', id]), new RegExp(`^Revoked ${id}\\.`))
  refused(await run(['api-keys', 'list'], remote()), { code: 3, stderr: /was revoked/ })
  apiKey = JSON.parse((await run(['bootstrap', '--json'], local())).stdout).api_key
  client = createClient({ baseUrl: server.baseUrl, token: apiKey })
  assert.deepEqual((await json(['api-keys', 'list'])).api_keys.map(({ status }: { status: string }) => status), ['active', 'revoked'])
})

test('destinations create shows the secret this once and names it after its host', async () => {
  const text = await ok(['destinations', 'create', good.url])
  assert.match(text, new RegExp(`^Destination {2}dst_\\w{26} {2}127\\.0\\.0\\.1:${good.port}\nDelivers to {2}${good.url}\nDatasets {5}all\nSecret {7}whsec_\\S+ {2}shown this once\n`))
  const made = await json(['destinations', 'create', good.url, '--name', 'Two', '--dataset', 'a', '--dataset', 'b', '-d', '{"timeout_ms":5000}'])
  assert.deepEqual([made.destination.name, made.destination.datasets, made.destination.timeout_ms], ['Two', ['a', 'b'], 5_000])
  assert.match(made.signing_secret, /^whsec_/)
  const rows = (await ok(['destinations', 'list'])).split('\n')
  assert.match(rows[0] ?? '', /^State {2}Destination {21}Name {2,}URL/)
  assert.match(rows[1] ?? '', /^● on {3}dst_\w{26} {2}Two {2,}http:/)
  for (const data of ['[]', 'nope', '"x"']) refused(await run(['destinations', 'create', good.url, '-d', data], remote()), { code: 2, stderr: /--data must be a JSON object/ })
  refused(await run(['destinations', 'create', 'nowhere'], remote()), { code: 1, stderr: /^postroad: .+\n$/ })
  refused(await run(['destinations', 'create', good.url, '-d', '{"colour":"red"}'], remote()), { code: 1, stderr: /"colour" is not a member/ })
})

test('destinations create --order-by keeps an order by key, says so, and repeats what the API says of a path that is none', async () => {
  assert.match(await ok(['destinations', 'create', good.url, '--name', 'ordered', '--dataset', 'ordered', '--order-by', 'customer.id']), /^Order {8}by customer\.id$/m)
  const made = await json(['destinations', 'create', good.url, '--name', 'ordered too', '--dataset', 'ordered', '--order-by', 'key', '-d', '{"ordering":"none"}'])
  assert.deepEqual(made.destination.ordering, { path: 'key' }, 'what is named by an option counts')
  refused(await run(['destinations', 'create', good.url, '--name', 'none', '--order-by', ''], remote()), { code: 1, stderr: /A path may not be empty; write one such as "items\.0\.id"\./ })
  refused(await run(['destinations', 'create', good.url, '--name', 'none', '--order-by', 'a..b'], remote()), { code: 1, stderr: /A path may not have an empty step/ })
})

test('an event is listed, and shown with its data letter by letter and its deliveries', async () => {
  const id = await quiet(['send', '-d', '{"n":12345678901234567890,"t":"\\u001b[31m","e":{},"l":[1,[]]}'])
  await delivered(id, 'delivered')
  const row = (await ok(['events', 'list'])).split('\n').find((line) => line.includes(id))
  assert.match(row ?? '', /^\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}rec_\w{26} {2}events +\{"n":/)
  const text = await ok(['events', 'get', id])
  assert.match(text, new RegExp(`^Event {7}${id} {2}in events\nReceived {4}.* UTC\nSubmission {2}sub_\\w{26}\n\n`))
  assert.ok(text.includes('\n{\n  "n": 12345678901234567890,\n  "t": "\\u001b[31m",\n  "e": {},\n  "l": [\n    1,\n    []\n  ]\n}\n'), text)
  assert.match(text, /\nState {8}Changed \(UTC\) {7}Delivery {24}Destination\n● delivered {2}\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}dlv_\w{26} {2}/)
  const shown = await json(['events', 'get', id])
  assert.deepEqual(shown, { ...(await client.records.get({ id })), ...(await client.deliveries.list({ record_id: id })) })
  assert.equal(await quiet(['events', 'list', '--dataset', 'nothing']), '')
})

test('a delivery is listed by state, destination and event, shown with its attempts, and sent again once it has ended', async () => {
  await ok(['destinations', 'create', bad.url, '--name', 'bad', '--dataset', 'failing'])
  await client.webhooks.create({ name: 'Failing', dataset: 'failing' })
  const event = await quiet(['send', 'failing'])
  const id = await delivered(event, 'retrying')
  for (const filter of [['--event', event], ['--state', 'retrying'], ['--destination', 'bad']]) assert.ok((await quiet(['deliveries', 'list', ...filter])).split('\n').includes(id), filter.join(' '))
  assert.match(await ok(['deliveries', 'list', '--destination', 'bad']), new RegExp(`\n▲ retrying {2}\\d\\d-\\d\\d \\S+ {2}${id} {2}bad`))
  const text = await ok(['deliveries', 'get', id])
  assert.match(text, new RegExp(`^Delivery {5}${id}\nState {8}▲ retrying\nEvent {8}${event} {2}in failing\nDestination {2}dst_\\w{26} {2}bad\nCreated {6}.* UTC\nNext try {5}.* UTC\n\n`))
  assert.match(text, /\n1 {2}\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d+ ms {2}initial {2,}500\n/)
  assert.match(text, /\nThe last answer said\n\\x1b\[31mno room\n$/)
  const again = await run(['deliveries', 'replay', id], remote())
  refused(again, { code: 1, stderr: /^postroad: .*has not ended yet.*\n$/ })

  const ended = await delivered(await quiet(['send', 'first', '-d', '{"amount":5000}']), 'delivered')
  assert.match(await ok(['deliveries', 'get', ended]), new RegExp(`\nNext {9}postroad deliveries replay ${ended}\n`))
  assert.match(await ok(['deliveries', 'replay', ended]), new RegExp(`^Again {2}${ended} .*\nNext {3}postroad deliveries get ${ended}\n$`))
  assert.equal(await ok(['deliveries', 'list', '--state', 'cancelled']), 'No delivery is like that.\n')
  const shown = await json(['deliveries', 'get', id])
  assert.equal(shown.delivery.attempts[0].response_status, 500)
})

test('many deliveries are replayed by a plan, with --yes at once, and recovered with their destination', async () => {
  const { destination } = await client.destinations.create({ name: 'broken', url: bad.url, datasets: ['broken'], retry: { schedule_seconds: [0] } })
  for (const n of [1, 2]) await fetch(`${server.endpoint}/broken`, { method: 'POST', body: JSON.stringify({ n }) })
  for (let turn = 0; turn < 200 && (await client.deliveries.list({ destination_id: destination.id, state: 'failed' })).deliveries.length < 2; turn += 1) await sleep(25)
  const which = ['deliveries', 'replay', '--destination', 'broken', '--state', 'failed', '--since', '1h']
  assert.match(await ok([...which, '--dry-run']), /^Deliveries {2}2\nRepeats {5}none\nPayloads {4}14 bytes\nTakes {7}under a minute\nTo {10}2 {2}broken\n$/)
  refused(await run(which, remote()), { code: 2, stderr: /^postroad: .*--dry-run, then add --yes\.\n$/ })
  refused(await run(['deliveries', 'replay'], remote()), { code: 2, stderr: /--destination/ })
  const { plan, replay } = await json([...which, '--yes'])
  assert.deepEqual([plan.count, replay.state, replay.replayed], [2, 'done', 2])
  assert.match(await ok(['replays', 'list']), new RegExp(`done .*${replay.id} .*2 of 2`))
  refused(await run(['replays', 'cancel', replay.id], remote()), { code: 1, stderr: /has ended/ })
  assert.match(await ok(['destinations', 'recover', 'broken', '--since', '1h', '--dry-run']), /Waiting {5}\d+ {2}go by themselves/)
  assert.equal((await json(['destinations', 'recover', 'broken', '--since', '2020-01-01T00:00:00Z', '--yes', '--detach'])).destination.id, destination.id)
  assert.match(await ok(['destinations', 'health', 'broken']), new RegExp(`^Destination {2}${destination.id} {2}● on\n`))
})

test('a destination is tested; a waiting delivery is retried and cancelled', async () => {
  const { destination } = await client.destinations.create({ name: 'patient', url: bad.url, datasets: ['patient'] })
  const failed = await run(['destinations', 'test', 'patient'], remote())
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /^Answer {3}500\n/)
  assert.match(failed.stderr, /it answered 500/)
  const { destination: fine } = await client.destinations.create({ name: 'fine', url: good.url, datasets: ['nothing'] })
  assert.match(await ok(['destinations', 'test', fine.id]), /^Answer {3}200\n[^]*It said {2,}thanks\n$/)
  const event = (await (await fetch(`${server.endpoint}/patient`, { method: 'POST', body: '{}' })).json()) as { records: { id: string }[] }
  const id = await delivered(event.records[0]?.id ?? '', 'retrying')
  assert.match(await ok(['deliveries', 'retry', id]), new RegExp(`^Retried {2}${id} `))
  await delivered(event.records[0]?.id ?? '', 'retrying')
  assert.match(await ok(['deliveries', 'cancel', id]), new RegExp(`^Cancelled {2}${id} `))
  await client.destinations.remove({ id: destination.id })
})

test('an endpoint gets a new URL or a new secret, and its versions are listed', async () => {
  const { webhook } = await client.webhooks.create({ name: 'Turned', slug: 'turned', verification: { scheme: 'hmac', secret: 'old' } })
  assert.match(await ok(['endpoints', 'rotate', 'turned', '--overlap', '0']), /^The new URL\nhttp\S+\nThe former URL has ended\.\n$/)
  const rotated = await json(['endpoints', 'rotate', 'turned'])
  assert.deepEqual([rotated.id, typeof rotated.previous_public_url], [webhook.id, 'string'])
  assert.match(await ok(['endpoints', 'rotate-secret', 'turned']), /Secret {6}\S+ {2}shown this once\nFormer one {2}verifies until /)
  const given = await ok(['endpoints', 'rotate-secret', 'turned', '--secret-stdin'], remote(), 'theirs\n')
  assert.ok(!given.includes('theirs') && !given.includes('shown this once'))
  await client.webhooks.update({ id: webhook.id, name: 'Renamed' })
  assert.match(await ok(['endpoints', 'versions', 'turned']), /Version .*\n +2 .* name/)
  refused(await run(['endpoints', 'rotate', 'nobody'], remote()), { code: 4, stderr: /^postroad: There is no endpoint "nobody" here\./ })
  refused(await run(['endpoints', 'rotate', 'turned', '--overlap', '721'], remote()), { code: 2, stderr: /0 to 720/ })
})

test('what is not there is exit code 4', async () => {
  await all([['events', 'get', 'nope'], ['deliveries', 'get', 'dlv_01m7ys72kve0fb1zmh4gjtmv5x'], ['deliveries', 'replay', 'nope'], ['send', 'nobody'], ['deliveries', 'list', '--destination', 'nobody'], ['events', 'list', '--project', 'nobody'], ['send', `${server.baseUrl}/main/default/nothing`]], async (args) => refused(await run(args, remote()), { code: 4, stderr: /^postroad: .+\.\n$/ }))
})

test('who may not is exit code 3, and the key of this machine never leaves it', async () => {
  refused(await run(['events', 'list'], remote({ SERVICE_TOKEN: 'hk_nobody' })), { code: 3, stderr: /^postroad: The server does not accept this API key\. Set SERVICE_TOKEN/ })
  refused(await run(['events', 'list', '--url', 'https://hooks.example.com'], local()), { code: 3, stderr: /^postroad: Set SERVICE_TOKEN to an API key of https:\/\/hooks\.example\.com \(hk_…\)\.\n$/ })
  refused(await run(['events', 'list', '--url', 'http://127.0.0.1.example.com'], local()), { code: 3, stderr: /Set SERVICE_TOKEN/ })
  const elsewhere = { PORT: new URL(server.baseUrl).port, DATA_DIR: join(folder.path, 'other') }
  refused(await run(['events', 'list'], elsewhere), { code: 3, stderr: /^postroad: Set SERVICE_TOKEN to an API key \(hk_…\), or DATA_DIR to the folder of the server: there is no \S+\.\n$/ })
})

test('a command that is written wrong is exit code 2, in one line and where to look', async () => {
  await all([['evnts'], ['events', 'git'], ['events', 'get'], ['events', 'list', '--limit', '0'], ['events', 'list', '--limit', 'x'], ['deliveries', 'list', '--state', 'lost'], ['send', '--sample', 'nope'], ['send', '-d', '{}', '--sample', 'hello'], ['start', '--port', '1'], ['events', 'list', '--url', 'nowhere'], ['send', '-d', '@/no/such/file']], async (args) => refused(await run(args, remote()), { code: 2, stderr: /^postroad: .+/ }))
})

test('no server, or another one, is said in one line', async () => {
  refused(await run(['events', 'list'], { ...local(), PORT: '1' }), { code: 1, stderr: /^postroad: There is no Postroad at http:\/\/127\.0\.0\.1:1\. Start it with "npm start", or say where it runs with --url or SERVICE_URL\.\n$/ })
  await all([['events', 'list', '--url', 'http://127.0.0.1:1'], ['send', 'http://127.0.0.1:1/a/b/c']], async (args) => refused(await run(args, remote()), { code: 1, stderr: /^postroad: http:\/\/127\.0\.0\.1:1 cannot be reached\. Start the server with "npm start", or say/ }))
  refused(await run(['events', 'list', '--url', good.url], remote()), { code: 1, stderr: /^postroad: .*did not answer with JSON\. / })
})

test('too many at once is exit code 5, with the time to wait', async () => {
  const busy = await aDestination(429, '{"error":"Too many at once.","reason":"burst_limited","retry_after":30}')
  refused(await run(['send', busy.url], remote()), { code: 5, stderr: /^postroad: Too many at once\. Try again in 30 s\.\n$/ })
  busy.stop()
})

test('with --json a command that is written wrong is an object on stderr too, and nothing else', async () => {
  await all([['evnts'], ['events'], ['events', 'get'], ['events', 'list', '--limit', 'x'], ['send', '-d', '{}', '--sample', 'hello'], ['events', 'list', '--url', 'nowhere'], ['suspend']], async (args) => {
    const { code, stdout, stderr } = await run([...args, '--json'], remote())
    const { error, reason, ...more } = JSON.parse(stderr)
    assert.deepEqual([code, stdout, reason, more], [2, '', 'usage', {}])
    assert.match(error, /^[^\n]+\.$/)
  })
})

test('with --json a refusal is an object on stderr', async () => {
  const { code, stdout, stderr } = await run(['events', 'get', 'nope', '--json'], remote())
  assert.deepEqual([code, stdout], [4, ''])
  const { request_id, ...told } = JSON.parse(stderr)
  assert.deepEqual(told, { error: 'There is nothing here with this id. Check the id, and that it belongs to this workspace and project.', reason: 'not_found', status: 404 })
  assert.match(request_id, /^req_/)
})

test('colour is for terminals: FORCE_COLOR stands in for one here, NO_COLOR wins', async () => {
  const colour = /\u001b\[/ // oxlint-disable-line no-control-regex -- the very thing looked for
  assert.doesNotMatch((await run(['send'], remote())).stdout, colour)
  assert.match((await run(['send'], remote({ FORCE_COLOR: '1' }))).stdout, colour)
  assert.doesNotMatch((await run(['--help'], remote())).stdout, colour)
})

test('every command explains itself with an example, within 80 columns', async () => {
  await all([[], ['start'], ['bootstrap'], ['doctor'], ['send'], ['events', 'list'], ['events', 'get'], ['deliveries', 'list'], ['deliveries', 'get'], ['deliveries', 'replay'], ['deliveries', 'retry'], ['deliveries', 'cancel'], ['replays', 'list'], ['replays', 'pause'], ['endpoints', 'list'], ['endpoints', 'rotate'], ['endpoints', 'rotate-secret'], ['endpoints', 'versions'], ['destinations', 'list'], ['destinations', 'create'], ['destinations', 'test'], ['destinations', 'health'], ['destinations', 'recover'], ['api-keys', 'list'], ['api-keys', 'revoke'], ['audit', 'list'], ['audit', 'verify'], ['audit', 'export'], ['export']], async (args) => {
    const text = await ok([...args, '--help'], {})
    assert.match(text, args.length === 0 ? /Begin with:\n {2}postroad start\n/ : /\nExamples?:\n {2}postroad /)
  })
  assert.equal(await ok([], {}), await ok(['--help'], {}))
  assert.match(await ok(['--version'], {}), /^\d+\.\d+\.\d+\n$/)
})

test('npm run writes its hints so that they can be pasted', async () => {
  assert.match(await ok(['--help'], { npm_lifecycle_event: 'postroad' }), /^Usage: npm run postroad -- <command>/)
})

const exportsAsked = async (): Promise<number> => (await client.audit.list({ action: 'create_data_export' })).audit.length

test('a workspace is exported into a file, a download that broke off is gone on with, and what is there already is not fetched again', async () => {
  const output = join(folder.path, 'export.zip')
  const { data_export, file } = await json(['export', '--output', output])
  assert.deepEqual([data_export.state, file], ['ready', output])
  const whole = await readFile(output)
  assert.equal(createHash('sha256').update(whole).digest('hex'), data_export.file.sha256)
  const again = join(folder.path, 'again.zip')
  await writeFile(`${again}.${data_export.id}.part`, whole.subarray(0, 100))
  assert.match(await ok(['export', '--id', data_export.id, '--output', again]), /^Export +exp_/)
  assert.ok((await readFile(again)).equals(whole))
  const { stderr, code } = await run(['export', '--id', data_export.id, '--output', again], remote())
  assert.deepEqual([code, stderr], [1, `postroad: ${again} is there already. Name another file with --output.\n`])
  const had = await exportsAsked()
  for (const nowhere of ['nowhere', 'export.zip']) refused(await run(['export', '--output', join(folder.path, nowhere, 'x.zip')], remote()), { code: 2, stderr: /^postroad: There is no folder \S+\. Make it, or name another file with --output\.\n$/ })
  refused(await run(['export', '--output', again], remote()), { code: 1, stderr: /is there already/ })
  assert.deepEqual([had > 0, await exportsAsked()], [true, had], 'what cannot be written is not asked for')
  const damaged = join(folder.path, 'damaged.zip')
  await writeFile(`${damaged}.${data_export.id}.part`, Buffer.alloc(100))
  assert.match((await run(['export', '--id', data_export.id, '--output', damaged], remote())).stderr, /not the file that the server has/)
})

test('the audit log is listed with filters, exported as CSV and as lines of JSON, and verified', async () => {
  const made = await client.webhooks.create({ name: 'Audited' })
  const target = made.webhook.id
  assert.match(await ok(['audit', 'list', '--target', target]), /^When \(UTC\) .*Action .*Target .*\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}create_webhook {2}whk_/)
  const { audit: rows } = await client.audit.list({ target })
  assert.deepEqual((await json(['audit', 'list', '--target', target])).audit, rows)
  assert.equal(await quiet(['audit', 'list', '--action', 'create_webhook', '--target', target]), rows[0]?.id)
  assert.equal(await ok(['audit', 'list', '--to', '2001-01-01T00:00:00Z']), 'No change is like that.\n')
  const csv = (await run(['audit', 'export', '--target', target], remote())).stdout.split('\r\n')
  assert.deepEqual([csv.length, csv[0]?.split(',')[0], csv[1]?.split(',')[0]], [3, '"id"', `"${rows[0]?.id}"`])
  assert.deepEqual(JSON.parse(await ok(['audit', 'export', '--target', target, '--json'])), rows[0])
  assert.deepEqual(await json(['audit', 'verify']), await client.audit.verify())
  assert.match(await ok(['audit', 'verify']), /^Audit log {2}every row fits\nRead {7}\d+ rows\n/)
  const gone = await run(['audit', 'verify', '--hash', '0'.repeat(64), '--json'], remote())
  assert.deepEqual([gone.code, JSON.parse(gone.stdout).problem.kind, /No row has the hash/.test(gone.stderr)], [1, 'rewritten', true])
  assert.equal(await ok(['audit', 'list', '--target', target, '--to', '1h']), 'No change is like that.\n')
  for (const option of ['--from', '--to']) refused(await run(['audit', 'export', option, 'yesterday'], remote()), { code: 2, stderr: /is invalid\. It is a time such as .*, or 30m, 6h, 2d for so long ago\.\n/ })
})

test('doctor speaks to people and to programs', async () => {
  assert.match(await ok(['doctor'], local()), /^(ok {4}.+\n)+$/)
  assert.equal((await json(['doctor'], local())).ok, true)
  assert.match((await run(['bootstrap'], local())).stdout, /API key +hk_/)
})

test('a command for the operator makes no database where there is none', async () => {
  const nowhere = { DATA_DIR: join(folder.path, 'nowhere') }
  await all([['doctor'], ['rotate-key'], ['workspaces', 'list']], async (args) => refused(await run(args, nowhere), { code: 1, stderr: /^postroad: There is no database in \S+nowhere\. Set DATA_DIR to the folder of the server, or DATABASE_URL\.\n$/ }))
  assert.equal(existsSync(nowhere.DATA_DIR), false)
})

test('an older Node is told so in one line', async () => {
  const older = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.19.0"}})'
  const end = await run(['events', 'list'], remote({ NODE_OPTIONS: `--import=${encodeURI(older)}` }))
  refused(end, { code: 1, stderr: /^postroad: this is Node 22\.19\.0, and Postroad needs 24 or newer\. Run it as "npm run postroad -- …", which brings its own\.\n$/ })
})

test('the command that npm links hands over to the Node installed with it, whatever Node runs it', async () => {
  const older = 'data:text/javascript,if(process.argv[1].endsWith("postroad.js"))Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})'
  for (const env of [{}, { NODE_OPTIONS: `--import=${encodeURI(older)}` }]) {
    const [version, unknown] = await Promise.all([launch(['--version'], env), launch(['nonsense'], env)])
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual([version.code, unknown.code], [0, 2])
  }
})

test('a reader that has seen enough is no failure', async () => {
  const child = begin(['endpoints', 'list', '--json'], remote())
  child.stdout.destroy()
  const [code] = await new Promise<[number | null]>((resolve) => child.once('exit', (...end: [number | null]) => resolve(end)))
  assert.equal(code, 0)
})
