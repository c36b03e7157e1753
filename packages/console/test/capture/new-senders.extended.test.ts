import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { post } from '../../../server/test/stage/fixtures.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage

onStage(async (made) => {
  ;({ stage } = made)
})

/** A person at the console, whose every press and every text is a step. */
function aPerson(page: Page) {
  let steps = 0
  return {
    press: async (name: string | RegExp): Promise<void> => {
      steps += 1
      await page.getByRole('button', { name }).first().click()
    },
    open: async (tab: string): Promise<void> => {
      steps += 1
      await page.getByRole('tab', { name: tab }).click()
    },
    fill: async (label: string, text: string): Promise<void> => {
      steps += 1
      await page.getByLabel(label, { exact: true }).fill(text)
    },
    choose: async (label: string, option: string): Promise<void> => {
      steps += 1
      await page.getByLabel(label).selectOption(option)
    },
    steps: () => steps,
  }
}

/** Sets up a sender that signs, by its preset, and returns its URL. */
async function setUp(page: Page, { name, secret }: { name: string; secret: string }): Promise<string> {
  const person = aPerson(page)
  await person.press(/^New(?: endpoint|$)/)
  await person.press(new RegExp(`^${name}`))
  await person.press('Create the URL')
  await page
    .getByRole('dialog')
    .getByText(/\/main\/default\//)
    .waitFor()
  await person.fill('Secret', secret)
  await person.press('Store the secret')
  await page
    .getByRole('button', { name: 'Send a signed test' })
    .or(page.getByRole('button', { name: 'Done' }))
    .first()
    .waitFor()
  await person.press('Done')
  await page.getByRole('region', { name: 'Endpoint', exact: true }).waitFor()
  assert.equal(person.steps(), 6, name)
  return urlOf(name)
}

async function urlOf(name: string): Promise<string> {
  const { webhooks } = (await stage.world.admin('GET', 'webhooks')).body
  return webhooks.find((one: { name: string }) => one.name === name).public_url
}

const hmac = (algorithm: string, text: string): string => createHmac(algorithm, 'hush').update(text).digest('base64')

test(
  'the console alone sets up senders that want another answer, in six steps each, and their requests get it',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('endpoints'))

    const shop = await setUp(page, { name: 'WooCommerce', secret: 'hush' })
    for (const [body, status] of [
      ['{"id":1001}', 201],
      ['{"id":1002}', 201],
      ['{"id":1002}', 200],
    ] as const) {
      const headers = { 'x-wc-webhook-delivery-id': 'one second', 'x-wc-webhook-signature': hmac('sha256', body) }
      assert.equal((await post(shop, body, { headers })).status, status, body)
    }

    const phone = await setUp(page, { name: 'Twilio', secret: 'hush' })
    const said = await post(phone, 'Body=Hello', {
      headers: { 'x-twilio-signature': hmac('sha1', `${phone}BodyHello`) },
      type: 'application/x-www-form-urlencoded',
    })
    assert.deepEqual([said.status, said.headers.get('content-type')], [200, 'text/xml'])

    const key = Buffer.from('a key of thirty-two bytes for it')
    const hook = await setUp(page, { name: 'Supabase Auth', secret: `whsec_${key.toString('base64')}` })
    const seconds = Math.floor(stage.world.clock.wall() / 1_000)
    const signature = createHmac('sha256', key).update(`msg_1.${seconds}.{"user":{}}`).digest('base64')
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': `${seconds}`, 'webhook-signature': `v1,${signature}` }
    const hooked = await post(hook, '{"user":{}}', { headers })
    assert.deepEqual([hooked.status, hooked.body], [200, {}])

    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const der = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    const mail = await setUp(page, { name: 'Twilio SendGrid', secret: der })
    const events = '[{"event":"open"},{"event":"click"}]'
    const mailed = await post(mail, events, {
      headers: {
        'x-twilio-email-event-webhook-timestamp': `${seconds}`,
        'x-twilio-email-event-webhook-signature': sign(
          'sha256',
          Buffer.from(`${seconds}${events}`),
          pair.privateKey,
        ).toString('base64'),
      },
    })
    assert.deepEqual([mailed.status, mailed.body.records.length], [201, 2])
    await seen.close()
  },
)

test(
  'the console alone sets up Microsoft Graph in three steps, and its validation gets the token back',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const person = aPerson(seen.page)
    await seen.page.goto(stage.url('endpoints'))
    await person.press(/^New(?: endpoint|$)/)
    await person.press(/^Microsoft Graph/)
    await person.press(/^Create$/)
    await seen.page.getByRole('region', { name: 'Endpoint', exact: true }).waitFor()
    assert.equal(person.steps(), 3)
    const asked = await fetch(`${await urlOf('Microsoft Graph')}?validationToken=a%20b%2b1`, { method: 'POST' })
    assert.deepEqual([asked.status, await asked.text()], [200, 'a b+1'])

    await seen.page.goto(stage.url('endpoints'))
    const other = aPerson(seen.page)
    await other.press(/^New(?: endpoint|$)/)
    await other.press(/^eBay/)
    assert.equal(await seen.page.getByRole('button', { name: /^Create$/ }).isDisabled(), true)
    await other.fill('Verify token', 'a token of thirty-two characters')
    await other.press(/^Create$/)
    await seen.page.getByRole('region', { name: 'Endpoint', exact: true }).waitFor()
    const answer = await fetch(`${await urlOf('eBay')}?challenge_code=c1`)
    assert.match(await answer.text(), /^\{"challengeResponse":"[\da-f]{64}"\}$/)
    await seen.close()
  },
)
