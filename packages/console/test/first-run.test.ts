import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { aStage, noBrowser, type Stage } from './browser.ts'

let stage: Stage

before(async () => {
  if (noBrowser === false) stage = await aStage()
})
after(() => stage?.stop())

test('the printed link signs in, the printed curl is sent, and the event and its path are on the screen', { skip: noBrowser }, async () => {
  const { installed } = stage.world
  const seen = await stage.stranger()
  const { page } = seen
  await page.goto(installed.sign_in_url)
  await page.waitForURL(`**/${installed.workspace.slug}/${installed.project.slug}/events`)
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor()
  assert.ok(!page.url().includes('#'), 'the token stays in no history')
  await page.getByText('Listening').waitFor()

  const command = await page.locator('pre').innerText()
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command.replaceAll('\\\n', ' ')} -s`])
  const accepted: { records: { id: string }[] } = JSON.parse(stdout)

  const row = page.getByRole('row').filter({ hasText: 'order.created' })
  await row.click()
  await page.getByRole('group', { name: 'Path of this event' }).getByText('Received').waitFor()
  await page.getByRole('treeitem').filter({ hasText: 'total: 42.5' }).waitFor()
  assert.ok(page.url().includes(accepted.records[0]?.id ?? 'none'))
  await seen.close()
})

test('who is not signed in is sent to sign in, and told where to come back to', { skip: noBrowser }, async () => {
  const seen = await stage.stranger()
  await seen.page.goto(stage.url('deliveries?state=failed'))
  await seen.page.waitForURL('**/sign-in?next=*')
  assert.equal(new URL(seen.page.url()).searchParams.get('next'), new URL(stage.url('deliveries?state=failed')).pathname + '?state=failed')
  await seen.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await seen.close()
})

test('a link that is over says so, and how to get another', { skip: noBrowser }, async () => {
  const seen = await stage.stranger()
  await seen.page.goto(`${stage.world.baseUrl}/#t=${'x'.repeat(43)}`)
  await seen.page.getByText('This link was used already or is over').waitFor()
  await seen.page.getByText('npm run postroad -- bootstrap').waitFor()
  await seen.close()
})
