import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { aWebhook, post } from '../stage/fixtures.ts'
import { aSink, aWorld, type Sink, type World } from '../stage/harness.ts'
import { call, connected, type Called } from '../stage/mcp-client.ts'

/** An agent with nothing but `/mcp`: it sets a sender up, delivers, finds faults and repairs them. */
let world: World
let sink: Sink
let client: Client
before(async () => {
  world = await aWorld({ loops: [] })
  sink = await aSink()
  client = await connected(world)
})
after(async () => {
  await client.close()
  await world.stop()
  await sink.stop()
})

type Args = Record<string, unknown>
const costs: { name: string; calls: number; tokens: number }[] = []
after(() => {
  for (const { name, calls, tokens } of costs) process.stdout.write(`${name}: ${calls} calls, ${tokens} tokens\n`)
})

/** A task of the agent: it counts the calls, and the tokens that their answers cost. */
function task(
  name: string,
  work: (use: (tool: string, args?: Args) => Promise<Called['answer']>) => Promise<void>,
): void {
  test(name, async () => {
    const cost = { name, calls: 0, tokens: 0 }
    costs.push(cost)
    await work(async (tool, args = {}) => {
      const { isError, answer, text, tokens } = await call(client, tool, args)
      cost.calls += 1
      cost.tokens += tokens
      assert.equal(isError, false, `${tool}: ${text}`)
      return answer
    })
  })
}

const SECRET = 'the secret of the repository'
let hook = { id: '', public_url: '', dataset: '' }
let destination = ''
let eventId = ''

const fromGitHub = (body: string, secret = SECRET) =>
  post(hook.public_url, body, {
    headers: {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-github-event': 'push',
      'x-github-delivery': createHmac('sha256', secret).update(body).digest('hex').slice(0, 16),
    },
  })

task('1. receive signed events from GitHub', async (use) => {
  await use('whoami')
  const { part: sender } = await use('senders_list', { path: 'github' })
  const { webhook } = await use('endpoint_create', {
    name: 'GitHub',
    dataset: 'pushes',
    ...sender.settings,
    verification: { ...sender.settings.verification, secret: SECRET },
  })
  hook = webhook
  assert.equal(JSON.stringify(webhook).includes(SECRET), false)
  assert.equal((await fromGitHub('{"ref":"refs/heads/main","commits":3}')).status, 201)
  assert.equal((await fromGitHub('{"ref":"refs/heads/main"}', 'another secret')).status, 401)
  const { records } = await use('events_search', { dataset: 'pushes' })
  assert.deepEqual([records.length, records[0].data.commits], [1, 3])
})

task('2. find out why requests of a sender are refused', async (use) => {
  // The log of refusals is written after the answers.
  await world.run('rejections.flush')
  const { rejections } = await use('rejections_list', { webhook_id: hook.id })
  assert.equal(rejections[0].reason, 'bad_signature')
  const { samples } = await use('endpoint_refused_samples', { id: hook.id })
  assert.ok(samples[0].header_names.includes('x-hub-signature-256'))
  assert.equal(JSON.stringify(samples).includes(SECRET), false)
})

task('3. deliver the events to a service and prove it', async (use) => {
  sink.answer({ status: 500, body: 'no table "pushes"' })
  const made = await use('destination_create', {
    name: 'Our service',
    url: sink.url,
    datasets: ['pushes'],
    retry: { schedule_seconds: [0] },
  })
  destination = made.destination.id
  assert.match(made.signing_secret, /^whsec_/)
  const { attempt } = await use('destination_test', { id: destination })
  assert.deepEqual([attempt.response_status, attempt.response_body], [500, 'no table "pushes"'])
})

task('4. find why a delivery failed', async (use) => {
  const posted = await fromGitHub('{"ref":"refs/heads/fix","commits":1}')
  eventId = posted.body.records[0].id
  await world.idle()
  const { deliveries } = (await call(client, 'deliveries_search', { state: 'failed' })).answer
  assert.equal(deliveries[0].record_id, eventId)
  const { delivery } = await use('delivery_get', { id: deliveries[0].id })
  assert.deepEqual(
    delivery.attempts.map((one: { response_status: number; response_body: string }) => [
      one.response_status,
      one.response_body,
    ]),
    [[500, 'no table "pushes"']],
  )
})

task('5. replay it after the fix', async (use) => {
  sink.answer({ status: 200, body: 'ok' })
  const { deliveries } = await use('deliveries_search', { destination, state: 'failed' })
  const earlier = sink.received.length
  await use('delivery_replay', { id: deliveries[0].id })
  await sink.until(earlier + 1)
  assert.equal(JSON.parse(sink.received.at(-1)?.body ?? '').id, eventId)
  await world.idle()
  const { delivery } = (await call(client, 'delivery_get', { id: deliveries[0].id })).answer
  assert.equal(delivery.state, 'delivered')
})

task('6. tell the whole story of an event', async (use) => {
  const story = await use('event_story', { id: eventId })
  assert.deepEqual([story.records[0].id, story.deliveries.length], [eventId, 1])
})

task('7. write a rule that matches X and not Y', async (use) => {
  const conditions = [
    { path: 'type', equals: 'invoice.paid' },
    { path: 'amount', op: 'gt', value: 100 },
  ]
  const payloads = [
    { type: 'invoice.paid', amount: 250 },
    { type: 'invoice.paid', amount: 20 },
    { type: 'invoice.void', amount: 250 },
  ]
  const tried = await use('rule_test', { conditions, payloads })
  assert.deepEqual(
    tried.results.map(({ matched }: { matched: boolean }) => matched),
    [true, false, false],
  )
  await use('rule_create', { name: 'Large invoices', dataset: 'large_invoices', conditions })
  const { key } = await use('ingest_key_create', { name: 'Billing' })
  const posted = await Promise.all(
    payloads.map((payload) => post(`${world.baseUrl}/v1/ingest/${key}`, JSON.stringify(payload))),
  )
  assert.deepEqual(
    posted.map(({ body }) => body.routed.length),
    [1, 0, 0],
  )
})

task('8. find a request that nothing matched, and why', async (use) => {
  const { submissions } = await use('unmatched_search', { q: 'invoice.void' })
  const { submission } = await use('event_story', { id: submissions[0].id })
  assert.ok(JSON.stringify(submission.decision).includes('invoice.void'))
})

task('9. change criteria after trying them', async (use) => {
  const criteria = [{ path: 'ref', equals: 'refs/heads/main' }]
  const { matched, tested } = await use('endpoint_test', { id: hook.id, criteria, recent: 10 })
  assert.deepEqual([matched, tested], [1, 2])
  const { webhook } = await use('endpoint_update', { id: hook.id, criteria })
  assert.deepEqual([webhook.criteria, webhook.verification.has_secret], [criteria, true])
})

task('10. clean up, with every change in the audit log', async (use) => {
  await use('destination_delete', { id: destination })
  await use('endpoint_delete', { id: hook.id })
  const { audit } = await use('audit_list', { target: hook.id })
  assert.deepEqual(
    audit
      .map(({ action }: { action: string }) => action)
      // A refused signature is audited seconds later, and is no change of the agent.
      .filter((action: string) => action !== 'ingest_signature_rejected'),
    ['delete_webhook', 'update_webhook', 'create_webhook'],
  )
  assert.ok(audit.every(({ agent }: { agent: string | null }) => agent === null || agent.startsWith('api_key:key_')))
})

task('11. undo a deletion that was a mistake', async (use) => {
  const { rules } = await use('rules_list')
  const [rule] = rules
  const { deletion } = await use('rule_delete', { id: rule.id })
  const { deletions } = await use('deletions_list')
  assert.deepEqual([deletions[0].id, deletions[0].resource_id, deletions[0].name], [deletion.id, rule.id, rule.name])
  // The deletions of the previous task are listed too.
  for (const one of deletions) await use('deletion_restore', { id: one.id })
  assert.deepEqual((await use('rules_list')).rules, rules)
  assert.equal((await fromGitHub('{"ref":"refs/heads/main","commits":7}')).status, 201)
  await world.idle()
  assert.equal(JSON.parse(sink.received.at(-1)?.body ?? '{}').data?.commits, 7)
  const { audit } = await use('audit_list', { target: rule.id })
  assert.deepEqual([audit[0].action, audit[0].details.after.name], ['restore_rule', rule.name])
})

test('a search answers in at most 2,000 tokens by default, and its cursor continues after the last item that it showed', async () => {
  const webhook = await aWebhook(world, { dataset: 'many' })
  for (let n = 0; n < 30; n += 1) {
    world.clock.advance(1)
    // Ids, digits and other scripts cost most.
    const payload = { n, id: createHmac('sha256', String(n)).digest('hex'), text: '日本語のテキスト'.repeat(n % 7) }
    await post(webhook.public_url, JSON.stringify(payload))
  }
  const seen: number[] = []
  let cursor: string | undefined
  do {
    const { answer, tokens } = await call(client, 'events_search', {
      dataset: 'many',
      ...(cursor === undefined ? {} : { cursor }),
    })
    assert.ok(tokens <= 2_000, String(tokens))
    assert.ok(answer.records.length >= 5 || answer.next_cursor === undefined)
    seen.push(...answer.records.map(({ data }: { data: { n: number } }) => data.n))
    cursor = answer.next_cursor
  } while (cursor !== undefined)
  assert.deepEqual(
    seen,
    Array.from({ length: 30 }, (_, n) => 29 - n),
  )
  for (const tool of [
    'deliveries_search',
    'unmatched_search',
    'rejections_list',
    'endpoints_list',
    'audit_list',
    'senders_list',
    'rules_list',
  ]) {
    const { tokens } = await call(client, tool)
    assert.ok(tokens <= 2_000, `${tool}: ${tokens}`)
  }
  const all = await call(client, 'events_search', { dataset: 'many', limit: 30 })
  assert.equal(all.answer.records.length, 30)
})

test('a list without pages is read in pieces too', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const { answer, tokens } = await call(client, 'senders_list', cursor === undefined ? {} : { cursor })
    assert.ok(tokens <= 2_000, String(tokens))
    seen.push(...answer.source_presets.map(({ id }: { id: string }) => id))
    cursor = answer.next_cursor
  } while (cursor !== undefined)
  const { source_presets: all } = (await world.admin('GET', 'source-presets')).body
  assert.deepEqual(
    seen,
    all.map(({ id }: { id: string }) => id),
  )
})

test('a large event is cut, names the missing parts, and can be read further by path and cursor without a lost character', async () => {
  const webhook = await aWebhook(world, { dataset: 'large' })
  const text = Array.from({ length: 9_000 }, (_, n) => `word${n}`).join(' ')
  const list = Array.from({ length: 400 }, (_, n) => ({ n, name: `item ${n} of the list` }))
  const { body } = await post(webhook.public_url, JSON.stringify({ 'a.b': text, list }))
  const { id } = body.records[0]
  const whole = await call(client, 'event_get', { id })
  assert.ok(whole.tokens <= 8_000, String(whole.tokens))
  assert.ok(
    whole.answer.missing.some((place: string) => place.startsWith(String.raw`record.data.a\.b: `)),
    whole.text,
  )
  let read = ''
  let cursor: string | undefined
  do {
    const { answer, tokens } = await call(client, 'event_get', { id, path: String.raw`record.data.a\.b`, cursor })
    assert.ok(tokens <= 8_000, String(tokens))
    read += answer.part
    cursor = answer.next_cursor
  } while (cursor !== undefined)
  assert.equal(read, text)
  const items: number[] = []
  do {
    const { answer } = await call(client, 'event_get', { id, path: 'record.data.list', cursor })
    items.push(...answer.part.map(({ n }: { n: number }) => n))
    cursor = answer.next_cursor
  } while (cursor !== undefined)
  assert.deepEqual(
    items,
    list.map(({ n }) => n),
  )
  assert.equal((await call(client, 'event_get', { id, path: 'record.data.list.399.n' })).answer.part, 399)
  const nothing = await call(client, 'event_get', { id, path: 'record.nothing' })
  assert.deepEqual([nothing.isError, nothing.answer.reason], [true, 'invalid_request'])
  const wrong = await call(client, 'event_get', { id, path: 'record.data.list', cursor: '-1' })
  assert.match(wrong.answer.error, /^cursor:? /)
})
