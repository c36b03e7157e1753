import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink

onStage((made) => {
  ;({ stage, sink } = made)
})

test(
  'a preset sets the body for its receiver, previewed with a real record, and no answer contains its key',
  { skip: noBrowser },
  async () => {
    const record = (await post(`${stage.world.endpoint}/alarms`, '{"total":9007199254740993,"what":"disk"}')).body
      .records[0].id
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('destinations'))
    await page.getByRole('button', { name: 'New destination' }).first().click()
    await page.getByRole('button', { name: /^PagerDuty/ }).click()
    assert.equal(await page.getByLabel('URL', { exact: true }).inputValue(), 'https://events.pagerduty.com/v2/enqueue')
    await page.getByLabel('URL', { exact: true }).fill(`${sink.url}pager`)
    await page.getByLabel('Integration key').fill('routing-key-of-mine')
    await page.getByText('Only selected').click()
    await page.getByLabel('Datasets', { exact: true }).fill('alarms')
    await page.getByText('Body: a message for PagerDuty').click()
    await page.getByLabel('Preview event').selectOption(record)
    const preview = page.getByLabel('Body preview')
    await preview.getByText('New event in alarms').waitFor()
    assert.match(await preview.innerText(), /"routing_key":\s*"••••••••"/)
    assert.match(await preview.innerText(), /9007199254740993/)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('group', { name: 'Signing secret' }).locator('code').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'PagerDuty', level: 2, exact: true }).waitFor()
    assert.ok(!(await page.content()).includes('routing-key-of-mine'))
    await post(`${stage.world.endpoint}/alarms`, '{"what":"fan"}')
    await sink.until(1)
    const got = sink.received.find(({ path }) => path === '/pager')
    const sent = JSON.parse(got?.body ?? '')
    assert.deepEqual([sent.routing_key, sent.payload.custom_details], ['routing-key-of-mine', { what: 'fan' }])
    await seen.close()
  },
)

test(
  'the page previews a custom body with a record while a person writes it, and shows its mistakes before it is saved',
  { skip: noBrowser },
  async () => {
    const { destination } = await aDestination(stage.world, { name: 'Chat', url: sink.url, datasets: ['chat'] })
    await post(`${stage.world.endpoint}/chat`, '{"who":"Ada"}')
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=body`)
    await page.getByLabel('Body preview').getByText('"who": "Ada"').waitFor()
    await page.getByText('Custom JSON').click()
    await page.getByLabel('Template', { exact: true }).fill('{"text":')
    await page.getByText('This is not valid JSON').first().waitFor()
    await page.getByLabel('Template', { exact: true }).fill('{"text":"{{ data.who | shout }}"}')
    await page.getByRole('region', { name: 'Preview' }).getByRole('alert').getByText('shout').waitFor()
    await page.getByLabel('Template', { exact: true }).fill('{"text":"{{ data.who | upcase }} was here"}')
    await page.getByLabel('Body preview').getByText('ADA was here').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next attempt.').waitFor()
    assert.deepEqual(
      (await stage.world.admin('GET', `destinations/${destination.id}`)).body.destination.payload_template,
      { text: '{{ data.who | upcase }} was here' },
    )
    await seen.close()
  },
)

test(
  'a person forwards requests as received, and sees the query string, the bytes and the reason of a mapped record',
  { skip: noBrowser },
  async () => {
    const { destination } = await aDestination(stage.world, {
      name: 'Behind',
      url: `${sink.url}behind`,
      datasets: ['behind'],
    })
    const { public_url } = await aWebhook(stage.world, { dataset: 'behind' })
    const mapped = await aWebhook(stage.world, { dataset: 'behind', mappings: [{ target: 'id', path: 'n' }] })
    await post(`${public_url}?tenant=acme`, 'a=1&b=2', { type: 'application/x-www-form-urlencoded' })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=body`)
    await page.getByLabel('Forwarded headers').fill('X-Topic')
    await page.getByText('As received', { exact: true }).click()
    await page.getByLabel('Body preview').getByText('a=1&b=2').waitFor()
    assert.equal(await page.getByLabel('Forwarded headers').count(), 0)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next attempt.').waitFor()
    const { body, forward_headers } = (await stage.world.admin('GET', `destinations/${destination.id}`)).body
      .destination
    assert.deepEqual([body, forward_headers], ['as_received', []])
    const form = await post(`${public_url}?tenant=acme&token=hush`, 'a=3', {
      type: 'application/x-www-form-urlencoded',
    })
    const made = await post(mapped.public_url, '{"n":7}')
    await stage.world.idle()
    await page.goto(stage.url(`events?sel=${form.body.records[0].id}&tab=deliveries`))
    await page.getByText('/behind?tenant=acme', { exact: false }).waitFor()
    await page.goto(stage.url(`events?sel=${form.body.records[0].id}&tab=headers`))
    await page.getByText('POST ?tenant=acme&token=•••').waitFor()
    await page.goto(stage.url(`events?sel=${made.body.records[0].id}&tab=deliveries`))
    await page.getByText('A mapping made this record', { exact: false }).waitFor()
    await seen.close()
  },
)

test('the preview and the test of a destination offer only events that it receives', { skip: noBrowser }, async () => {
  const { destination } = await aDestination(stage.world, {
    name: 'only gold',
    url: 'https://example.com/',
    enabled: false,
    datasets: ['goldies'],
    conditions: [{ path: 'gold', equals: true }],
  })
  const { public_url } = await aWebhook(stage.world, { dataset: 'goldies' })
  const taken = await post(public_url, '{"gold":true}')
  const left = await post(public_url, '{"gold":false}')
  const seen = await stage.owner()
  const { page } = seen
  const offered = async (label: string): Promise<readonly (string | null)[]> => {
    const options = page.getByLabel(label, { exact: true }).locator('option')
    await options.filter({ hasText: 'goldies' }).first().waitFor({ state: 'attached' })
    return Promise.all((await options.all()).map((option) => option.getAttribute('value')))
  }
  await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=body`)
  assert.deepEqual(await offered('Preview event'), [taken.body.records[0].id])
  await page.getByRole('button', { name: 'Send a test' }).click()
  assert.deepEqual(await offered('Event'), ['', taken.body.records[0].id])
  assert.notEqual(left.body.records[0].id, taken.body.records[0].id)
  await seen.close()
})
