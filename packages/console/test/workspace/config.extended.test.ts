import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aRule, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { ask } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { onSettings, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings((settings) => {
  made = settings
})

const answer = async (line: string) => (await ask(made.stage.world, line, { headers: made.headers })).body

test(
  'a person exports a project; the plan of a changed file names each change and its effect, and the result lists each missing secret',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const { world } = stage
    await aWebhook(world, { name: 'Code host', slug: 'code-host-1234567890', dataset: 'pushes' })
    await aRule(world, { name: 'Refunds', dataset: 'refunds' })
    await aDestination(world, { name: 'ledger', url: 'http://127.0.0.1:9/ledger' })
    assert.equal((await post(world.endpoint, '{"type":"order.created"}')).status, 201)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('config'))
    const link = page.getByRole('link', { name: 'Download postroad.json' })
    await link.waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
    const chunks: Buffer[] = []
    for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk))
    const config = JSON.parse(Buffer.concat(chunks).toString())
    assert.equal(config.version, 1)

    await page.getByLabel('Or paste it').fill('{ "version": 1,')
    await page.getByRole('button', { name: 'Create plan' }).click()
    await page.getByRole('alert').getByText('is not valid JSON').waitFor()
    await page.getByLabel('Or paste it').fill('{ "version": 2 }')
    await page.getByRole('button', { name: 'Create plan' }).click()
    await page
      .getByRole('alert')
      .getByText(/version/)
      .waitFor()
    await page.getByRole('button', { name: 'Another file' }).click()
    const discard = page.getByRole('button', { name: 'Discard changes' })
    if (await discard.isVisible()) await discard.click()

    config.rules[0].dataset = 'money_back'
    config.endpoints.push({
      name: 'Payments',
      slug: 'payments-0987654321',
      dataset: 'payments',
      enabled: true,
      criteria: [],
      mappings: [],
      verification: { scheme: 'payments_provider' },
    })
    config.destinations = []
    await page.getByLabel('Configuration file').setInputFiles({
      name: 'changed.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(config)),
    })
    await page.getByRole('heading', { name: 'Plan of changed.json' }).waitFor()
    await page.getByText('The plan creates 1 resource and changes 1 resource. Everything else stays').waitFor()
    await page.getByRole('list', { name: 'Creates' }).getByText('payments-0987654321').waitFor()
    const change = page.getByRole('region', { name: 'rule Refunds' })
    await change.getByText('money_back').waitFor()
    await page.getByRole('checkbox', { name: /Also delete resources that are not in the file/ }).check()
    await page.getByRole('list', { name: 'Deletes' }).getByText('ledger').waitFor()
    await page.getByText(/of the \d+ newest events? would be routed differently/).waitFor()
    assert.equal((await answer('GET rules')).rules[0].dataset, 'refunds', 'a plan changes nothing')
    await page.getByRole('button', { name: 'Apply 3 changes' }).click()
    const missing = page.getByRole('list', { name: 'Missing secrets' })
    await missing.getByText('Needs the sender’s verification secret').waitFor()
    assert.equal((await answer('GET rules')).rules[0].dataset, 'money_back')
    assert.deepEqual((await answer('GET destinations')).destinations, [])
    await missing.getByRole('link', { name: 'Set it' }).click()
    await page.getByRole('tab', { name: 'Verification', selected: true }).waitFor()
    await page.getByRole('heading', { name: 'Payments', level: 2 }).waitFor()
    await seen.close()
  },
)

test('a viewer plans a file and cannot apply it; the button names the role that can', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.member('viewer', 'dark')
  const { page } = seen
  await page.goto(stage.url('config'))
  await page
    .getByLabel('Or paste it')
    .fill('{"version":1,"rules":[{"name":"New","dataset":"new","enabled":true,"conditions":[],"mappings":[]}]}')
  await page.getByRole('button', { name: 'Create plan' }).click()
  const apply = page.getByRole('button', { name: 'Apply 1 change' })
  await apply.waitFor()
  assert.equal(await apply.isDisabled(), true)
  await page.getByText('This requires the developer role').waitFor()
  await seen.close()
})
