import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import type { Answer } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** The console sends to endpoints that verify signatures. */
let stage: Stage
let signed: Answer['body']

onStage(async (made) => {
  ;({ stage } = made)
  signed = await aWebhook(stage.world, { name: 'Signed', verification: { scheme: 'code_host', secret: 'hush' } })
  await aWebhook(stage.world, { name: 'Bare', verification: { scheme: 'code_host', without_secret: true } })
})

const newest = async (): Promise<Answer['body']> => (await stage.world.admin('GET', 'records?limit=1')).body.records[0]

test('the server signs an event from the console for an endpoint that verifies it', { skip: noBrowser }, async () => {
  await post(stage.world.endpoint, '{"type":"first"}')
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByRole('button', { name: 'Send event' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Endpoint').selectOption({ label: 'Bare' })
  await dialog.getByText('This endpoint has no secret yet').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Send', exact: true }).isDisabled())
  await dialog.getByLabel('Endpoint').selectOption({ label: 'Signed' })
  await dialog.getByText('The server signs the event with the secret of this endpoint.').waitFor()
  await dialog.getByRole('button', { name: 'Copy as' }).click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
  await page.getByText('Copied as curl, with its signature').waitFor()
  await dialog.getByRole('button', { name: 'Copy as' }).click()
  await page.getByRole('menuitem', { name: 'Copy as a CLI command' }).click()
  await page.getByText('Copied as CLI command. Set SECRET').waitFor()
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('region', { name: 'Event', exact: true }).getByRole('treeitem').first().waitFor()
  assert.equal((await newest()).webhook_id, signed.id)
  assert.ok(!(await page.content()).includes('hush'))
  await seen.close()
})

test(
  'the console sends an edited event to such an endpoint with the title that its sender gave it',
  { skip: noBrowser },
  async () => {
    const body = '{"number":1,"name":"Ada Lovelace"}'
    const { headers } = (await stage.world.admin('POST', `webhooks/${signed.id}/sign-sample`, { body })).body
    const sent = await post(signed.public_url, body, { headers: { ...headers, 'x-github-event': 'pull_request' } })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`events?sel=${sent.body.records[0].id}`))
    await page.getByRole('heading', { name: 'pull_request' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Ada Lovelace' }).count(), 0)
    await page.getByRole('button', { name: /^Edit and send/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await page.waitForURL((url) => !url.search.includes(sent.body.records[0].id))
    await page.getByRole('heading', { name: 'pull_request' }).waitFor()
    const again = await newest()
    assert.deepEqual([again.header_title, again.data], ['pull_request', JSON.parse(body)])
    assert.notEqual(again.id, sent.body.records[0].id)
    await seen.close()
  },
)

test('a viewer sees which role can sign', { skip: noBrowser }, async () => {
  const seen = await stage.member('viewer')
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByRole('button', { name: 'Send event' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Endpoint').selectOption({ label: 'Signed' })
  await dialog.getByText('This requires the developer role').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Send', exact: true }).isDisabled())
  await seen.close()
})
