import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { KNOWN_HANDSHAKES } from '@postroad/contract/handshake-forms'
import { aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage

before(async () => {
  if (noBrowser === false) stage = await aStage()
})
after(() => stage?.stop())

test(
  'a new endpoint hides its URL until a person shows it, and lists its requests in its activity and its records',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('endpoints'))
    await page.getByRole('grid', { name: 'Endpoints' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('button', { name: /^Any sender/ }).waitFor()
    await page.getByRole('button', { name: /^Any sender/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('Billing')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Billing', level: 2 }).waitFor()
    const { webhooks } = (await stage.world.admin('GET', 'webhooks')).body
    const made = webhooks.find(({ name }: { name: string }) => name === 'Billing')
    assert.ok(!(await page.content()).includes(made.webhook_slug), 'the credential is not on the screen')
    await page.getByRole('button', { name: 'Show the URL' }).click()
    await page.locator('pre').getByText(made.public_url).waitFor()

    await post(made.public_url, '{"total":42.5,"customer":{"country":"DE"}}')
    await post(made.public_url, '{"broken')
    await page.getByRole('tab', { name: 'Activity' }).click()
    const activity = page.getByRole('list', { name: 'Activity' })
    // The server writes refusals a second later, by its clock.
    await eventually('the server writes the refusal', async () => {
      stage.world.clock.advance(250)
      return (await stage.world.admin('GET', 'rejections')).body.rejections[0]
    })
    await activity.getByText('The body could not be read').waitFor()
    await activity.getByText('stored').waitFor()
    await page.getByRole('tab', { name: 'Records' }).click()
    await page.getByRole('columnheader', { name: 'customer.country' }).waitFor()
    await page.getByRole('button', { name: 'New view' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Totals')
    await page.getByRole('checkbox', { name: 'total' }).check()
    await page.getByRole('button', { name: 'Save the view' }).click()
    await page.getByRole('columnheader', { name: 'customer.country' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Totals' }).waitFor()
    await page.getByRole('button', { name: 'Delete view' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('columnheader', { name: 'customer.country' }).waitFor()

    const long = await post(made.public_url, JSON.stringify({ ['k'.repeat(5_000)]: Array<number>(5_000).fill(0) }))
    await page.reload()
    await page.getByText('1 record too large for this table').waitFor()
    await page.getByText('Older records can have more columns').waitFor()
    await page.getByRole('link', { name: long.body.records[0].id }).waitFor()

    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill(made.id)
    await page.keyboard.press('Enter')
    const subject = page.getByRole('region', { name: 'Endpoint' })
    await subject.getByText(long.body.records[0].id).waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill(long.headers.get('request-id') ?? '')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Event', exact: true }).getByText(long.body.records[0].id).first().waitFor()
    await seen.close()
  },
)

test(
  'a person turns a signature check on and rotates its secret with an overlap; the tester reports which step failed',
  { skip: noBrowser },
  async () => {
    const hook = await aWebhook(stage.world, { name: 'Code host' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('endpoints')}?sel=${hook.id}&tab=verification`)
    await page.getByLabel('Verification scheme').selectOption('code_host')
    await page.getByLabel('Secret', { exact: true }).fill('hush')
    await page.getByRole('button', { name: 'Save verification' }).click()
    const tester = page.getByRole('form', { name: 'Signature tester' })
    await tester.getByLabel('Headers').fill('Content-Type: application/json')
    await tester.getByLabel('Body').fill('{"a":1}')
    await tester.getByRole('button', { name: 'Test the signature' }).click()
    await tester.getByText('The request is rejected: missing header.').waitFor()
    await tester
      .getByLabel('Headers')
      .fill(`X-Hub-Signature-256: sha256=${createHmac('sha256', 'hush').update('{"a":1}').digest('hex')}`)
    await tester.getByRole('button', { name: 'Test the signature' }).click()
    await tester.getByText('The signature is valid').waitFor()
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
    await page.getByRole('group', { name: 'New verification secret' }).locator('code').waitFor()
    await page.getByText('also valid, expires').waitFor()
    assert.ok(!(await page.content()).includes('hush'))
    await seen.close()
  },
)

test(
  'the page tests criteria with recent events while a person writes them; they are saved, and an earlier version is restored',
  { skip: noBrowser },
  async () => {
    const hook = await aWebhook(stage.world, { name: 'Orders', dataset: 'orders' })
    for (const total of [10, 2_000, 3_000]) await post(hook.public_url, JSON.stringify({ total }))
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('endpoints')}?sel=${hook.id}&tab=routing`)
    await page.getByText('3 of the last 3 events match').waitFor()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Path of condition 1').fill('total')
    await page.getByLabel('Comparison of condition 1').selectOption('gt')
    await page.getByLabel('Value of condition 1').fill('1000')
    await page.getByText('2 of the last 3 events match').waitFor()
    await page.getByText('total > 1000, but the value is 10').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByText('Changed criteria').waitFor()
    await page.getByRole('button', { name: 'View', exact: true }).click()
    await page.getByRole('cell', { name: 'criteria' }).waitFor()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Restored from version 1').waitFor()
    assert.deepEqual((await stage.world.admin('GET', `webhooks/${hook.id}`)).body.webhook.criteria, [])
    await seen.close()
  },
)

test(
  'a person sets the allowed senders, and after a new URL the previous one works for the overlap',
  { skip: noBrowser },
  async () => {
    const hook = await aWebhook(stage.world, { name: 'Guarded' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('endpoints')}?sel=${hook.id}&tab=access`)
    await page.getByLabel('IP allowlist').fill('203.0.113.0/24\nnonsense')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText('CIDR range').waitFor()
    await page.getByLabel('IP allowlist').fill('203.0.113.0/24\n127.0.0.1')
    await page.getByText('Another header').click()
    await page.getByLabel('Header name').fill('X-GitHub-Delivery')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    const kept = (await stage.world.admin('GET', `webhooks/${hook.id}`)).body.webhook
    assert.deepEqual(
      [kept.ip_allowlist, kept.idempotency],
      [['203.0.113.0/24', '127.0.0.1'], { header: 'X-GitHub-Delivery' }],
    )
    await page.getByRole('tab', { name: 'Setup' }).click()
    await page.getByRole('button', { name: 'Rotate the URL' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rotate the URL?' })
    await dialog.getByText('The current URL remains valid until').waitFor()
    assert.equal(
      (await stage.world.admin('GET', `webhooks/${hook.id}`)).body.webhook.public_url,
      hook.public_url,
      'nothing happens before the answer',
    )
    await dialog.getByRole('button', { name: 'Rotate the URL' }).click()
    await page.getByText('The previous URL still works. It expires').waitFor()
    assert.equal((await post(hook.public_url, '{}')).status, 201)
    await seen.close()
  },
)

test(
  'the choice of a known sender sets the signature check, the handshake and the field that identifies repeats',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    const made = async (name: string) =>
      (await stage.world.admin('GET', 'webhooks')).body.webhooks.find((one: { name: string }) => one.name === name)
    await page.goto(stage.url('endpoints'))
    await page.getByRole('button', { name: 'New endpoint' }).click()
    await page.getByRole('button', { name: /^Meta/ }).click()
    await page.getByLabel('Verify token').fill('a token of ours')
    await page.getByRole('button', { name: 'Create the URL' }).click()
    await page.getByLabel('Secret', { exact: true }).fill('the app secret')
    await page.getByRole('button', { name: 'Store the secret' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Meta', level: 2, exact: true }).waitFor()
    const meta = await made('Meta')
    assert.deepEqual(
      [meta.verification.scheme, meta.verification.has_secret, meta.handshake],
      ['code_host', true, { kind: 'hub_challenge', has_verify_token: true }],
    )
    const answer = await fetch(
      `${meta.public_url}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=a%20token%20of%20ours`,
    )
    assert.equal(await answer.text(), '1158201444')

    await page.getByRole('button', { name: 'New', exact: true }).click()
    await page.getByRole('button', { name: /^Typeform/ }).click()
    await page.getByRole('button', { name: 'Create the URL' }).click()
    await page.getByLabel('Secret', { exact: true }).fill('hush')
    await page.getByRole('button', { name: 'Store the secret' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Typeform', level: 2, exact: true }).waitFor()
    const { public_url } = await made('Typeform')
    const body = '{"event_id":"01","form_response":{}}'
    const headers = { 'typeform-signature': `sha256=${createHmac('sha256', 'hush').update(body).digest('base64')}` }
    assert.deepEqual(
      [
        (await post(public_url, body)).status,
        (await post(public_url, body, { headers })).status,
        (await post(public_url, body, { headers })).status,
      ],
      [401, 201, 200],
    )
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page
      .getByRole('row')
      .filter({ hasText: 'Typeform' })
      .getByRole('img', { name: /^\d received and \d rejected of the last \d$/ })
      .waitFor()
    await seen.close()
  },
)

test(
  'an endpoint gets the handshake of a provider from a list, and a person can change its form',
  { skip: noBrowser },
  async () => {
    const { id, public_url: url } = await aWebhook(stage.world, { name: 'Mailbox' })
    const seen = await stage.owner()
    const { page } = seen
    const stored = async () => (await stage.world.admin('GET', `webhooks/${id}`)).body.webhook.handshake
    await page.goto(`${stage.url('endpoints')}?sel=${id}&tab=access`)
    await page.getByLabel('Kind of handshake').selectOption('Microsoft Graph')
    assert.equal(await page.getByLabel('How to recognize the request').inputValue(), 'query validationToken')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').first().waitFor()
    assert.deepEqual((await stored()).when, { method: 'POST', query: 'validationToken' })
    const answer = await fetch(`${url}?validationToken=Testing%20a%20b%2b1`, { method: 'POST' })
    assert.equal(await answer.text(), 'Testing a b+1')

    await page.getByLabel('How to recognize the request').fill('cookie a')
    await page.getByText('“cookie a” is not a place.').waitFor()
    await page.getByLabel('How to recognize the request').fill('query check')
    await page.getByText('Verify token', { exact: true }).click()
    await page.getByLabel('Place of the token').fill('query t')
    await page.getByLabel('Verify token', { exact: true }).last().fill('tok')
    await page.getByLabel('Body of the answer').fill('{{ query.check }}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
    assert.deepEqual(await stored(), {
      kind: 'custom',
      has_verify_token: true,
      when: { method: 'POST', query: ['check'] },
      proof: { kind: 'token', query: 't' },
      answer: { status: 200, content_type: 'text/plain', headers: {}, body: '{{ query.check }}' },
    })
    assert.equal(await (await fetch(`${url}?check=c&t=tok`, { method: 'POST' })).text(), 'c')
    await seen.close()
  },
)

test(
  'one dialog sets up each sender that signs: the URL, the secret, and a signed test that is stored',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('endpoints'))
    const click = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).first().click()
    // Stripe is one of the journeys (journeys.test.ts).
    for (const [name, secret] of [
      ['GitHub', 'hush'],
      ['Shopify', 'hush'],
      ['Slack', 'hush'],
      ['Standard Webhooks', `whsec_${Buffer.from('standard').toString('base64')}`],
      ['Svix', `whsec_${Buffer.from('svix').toString('base64')}`],
      ['Linear', 'hush'],
      ['PagerDuty', 'hush'],
    ] as const) {
      await click(/^New(?: endpoint|$)/)
      await click(new RegExp(`^${name}`))
      await click('Create the URL')
      const dialog = page.getByRole('dialog')
      await dialog.getByText(/\/main\/default\//).waitFor()
      await dialog.getByLabel('Secret', { exact: true }).fill(secret)
      await click('Store the secret')
      await click('Send a signed test')
      await dialog.getByText('Stored. The signature is valid.').waitFor()
      await click('Done')
      await page.getByRole('region', { name: 'Endpoint', exact: true }).waitFor()
    }
    await seen.close()
  },
)

test(
  'a search finds a preset by its name or its header, and the preset sets the check, the steps and the documentation',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('endpoints'))
    await page.getByRole('grid', { name: 'Endpoints' }).waitFor()
    const { source_presets: presets } = (await stage.world.admin('GET', 'source-presets')).body
    const choose = async (search: string, name: string): Promise<void> => {
      await page
        .getByRole('button', { name: /^New(?: endpoint|$)/ })
        .first()
        .click()
      const list = page.getByRole('list', { name: 'Senders' })
      await list.getByRole('button', { name: /^Zoom/ }).waitFor()
      // Any sender, the presets, the providers whose handshake is known and needs no secret, as X does, and any HMAC.
      const isPreset = ({ id }: { id: string }): boolean => presets.some((preset: { id: string }) => preset.id === id)
      const askers = KNOWN_HANDSHAKES.filter((one) => !isPreset(one) && one.name !== 'X (crc_token)').length
      assert.equal(await list.getByRole('listitem').count(), presets.length + askers + 2)
      await page.getByLabel('Search senders').fill(search)
      await list.getByRole('button', { name: /^Stripe/ }).waitFor({ state: 'detached' })
      assert.equal(await list.getByRole('listitem').count(), 1)
      await list.getByRole('button', { name }).click()
    }
    await page.getByRole('button', { name: 'New endpoint' }).click()
    await page.getByRole('list', { name: 'Senders' }).getByRole('button', { name: /^Zoom/ }).waitFor()
    await seen.picture('sender-choice')
    await page.getByLabel('Search senders').fill('no such sender')
    await page.getByText('No sender matches this name or header.').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()

    await choose('paddle-sig', 'Paddle')
    await page.getByRole('button', { name: 'Create the URL' }).click()
    await page.getByRole('list', { name: 'Steps at the sender' }).getByText('add the URL of the endpoint').waitFor()
    assert.match(
      (await page.getByRole('link', { name: 'Sender documentation' }).getAttribute('href')) ?? '',
      /^https:\/\/github\.com\/PaddleHQ\//,
    )
    await page.getByLabel('Secret', { exact: true }).fill('hush')
    await page.getByRole('button', { name: 'Store the secret' }).click()
    await page.getByRole('button', { name: 'Send a signed test' }).click()
    await page.getByText('Stored. The signature is valid.').waitFor()
    await seen.picture('sender-of-a-preset')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('tab', { name: 'Verification' }).click()
    assert.equal(await page.getByLabel('Signed content').inputValue(), '{timestamp}:{body}')
    await page.getByLabel('Signed content').fill('{body}')
    await page.getByRole('button', { name: 'Save verification' }).click()
    await page.getByText('The timestamp is not signed, so anybody could change it').waitFor()
    await seen.picture('custom-hmac')
    await page.getByLabel('Signed content').fill('{timestamp}:{body}')
    await page.getByRole('button', { name: 'Close', exact: true }).click()

    await choose('x-gitlab', 'GitLab')
    await page.getByRole('button', { name: 'Create the URL' }).click()
    await page.getByLabel('Secret', { exact: true }).fill('a token of ours')
    await page.getByRole('button', { name: 'Store the secret' }).click()
    await page.getByText('Send a test from GitLab. Only the sender can sign the test.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Send a signed test' }).count(), 0)
    const gitlab = (await stage.world.admin('GET', 'webhooks')).body.webhooks.find(
      (one: { name: string }) => one.name === 'GitLab',
    )
    await post(gitlab.public_url, '{"object_kind":"push"}', { headers: { 'x-gitlab-token': 'a token of ours' } })
    await page.getByText('Stored. The signature is valid.').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await seen.close()
  },
)

test('the setup of a sender shows why an unsigned request is rejected', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('endpoints'))
  await page.getByRole('grid', { name: 'Endpoints' }).waitFor()
  await page.keyboard.press('n')
  await page.getByRole('button', { name: /^Sentry/ }).click()
  await page.getByRole('button', { name: 'Create the URL' }).click()
  await page.getByLabel('Secret', { exact: true }).fill('hush')
  await page.getByRole('button', { name: 'Store the secret' }).click()
  await page.getByText('Nothing has arrived yet.').waitFor()
  const { webhooks } = (await stage.world.admin('GET', 'webhooks')).body
  await post(webhooks.find(({ name }: { name: string }) => name === 'Sentry').public_url, '{}')
  await eventually('the page shows the refusal', async () => {
    stage.world.clock.advance(250)
    return (await page.getByText('Rejected: missing header').isVisible()) ? true : undefined
  })
  await seen.close()
})

test(
  'an endpoint for Twilio has its response from the preset, and a person can change the response',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('endpoints'))
    await page.getByRole('grid', { name: 'Endpoints' }).waitFor()
    await page.keyboard.press('n')
    await page
      .getByRole('button', { name: /^Twilio/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Create the URL' }).click()
    await page.getByLabel('Secret', { exact: true }).fill('hush')
    await page.getByRole('button', { name: 'Store the secret' }).click()
    await page.getByRole('button', { name: 'Send a signed test' }).click()
    await page.getByRole('dialog').getByText('Stored. The signature is valid.').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('tab', { name: 'Access' }).click()
    assert.equal(await page.getByLabel('Content type').inputValue(), 'text/xml')
    assert.equal(await page.getByLabel('Body', { exact: true }).inputValue(), '<Response/>')
    await page.getByLabel('Body', { exact: true }).fill('<Response><Reject/></Response>')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    const { webhooks } = (await stage.world.admin('GET', 'webhooks')).body
    assert.deepEqual(webhooks.find(({ name }: { name: string }) => name === 'Twilio').response, {
      status: 200,
      content_type: 'text/xml',
      body: '<Response><Reject/></Response>',
    })
    await page.getByText('204', { exact: true }).click()
    await page.getByText('A response with the status 204 has no body.').waitFor()
    await page.getByText('Standard', { exact: true }).click()
    await page.getByText('201 with the ID of the event as JSON').waitFor()
    await seen.close()
  },
)

test('an endpoint shows its duplicates and reused keys, and so do their events', { skip: noBrowser }, async () => {
  const { page } = await stage.owner()
  const header = 'X-WC-Webhook-Delivery-ID'
  const { id, public_url: url } = await aWebhook(stage.world, { dataset: 'repeated', idempotency: { header } })
  const send = async (order: number) => post(url, JSON.stringify({ order }), { headers: { [header]: 'one' } })
  await send(1)
  const second = await send(2)
  await send(2)
  await eventually('the server writes the repeats', async () => {
    stage.world.clock.advance(250)
    return (await stage.world.admin('GET', `webhooks/${id}/activity`)).body.summary.duplicates === 1 ? true : undefined
  })
  await page.goto(`${stage.url('endpoints')}?sel=${id}`)
  await page.getByText('2 received, 0 rejected in 24 h, 1 duplicate, 1 reused key').waitFor()
  await page.goto(`${stage.url('events')}?sel=${second.body.records[0].id}&tab=headers`)
  await page.getByRole('tab', { name: 'Headers' }).click()
  await page.getByText('Repeated once.').waitFor()
  await page.getByText('An earlier event has the same key and another body.').waitFor()
})
