import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { aStage, CORPUS, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage

before(async () => {
  if (noBrowser === false) stage = await aStage()
})
after(() => stage?.stop())

test(
  'the editor of a payload has colors and underlines a mistake, and keys alone send it',
  { skip: noBrowser },
  async () => {
    await post(stage.world.endpoint, '{"type":"edit.me","total":42.5,"paid":true,"note":null}')
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events'))
    await page.getByRole('row').filter({ hasText: 'edit.me' }).first().click()
    await page
      .getByRole('button', { name: /^Edit and send/ })
      .and(page.locator(':enabled'))
      .waitFor()
    await page.keyboard.press('e')
    const editor = page.getByRole('textbox', { name: 'Body' })
    await editor.waitFor()
    await editor.getByText('"edit.me"').waitFor()
    await seen.picture('editor')
    await editor.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{"type":"edited.now", "total": }')
    await page.getByText('This is not valid JSON').waitFor()
    await page.locator('.cm-lintRange-error, .cm-lintPoint-error').first().waitFor({ state: 'attached' })
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(`{"type":"edited.again","total":7}`)
    await page.getByText(/^Press (?:⌘|Ctrl) Enter to send\.$/).waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'edited.again' }).waitFor()
    await seen.close()
  },
)

test('keys do nothing before their event is loaded, and no example replaces it', { skip: noBrowser }, async () => {
  const accepted = await post(stage.world.endpoint, '{"type":"comes.late"}')
  const seen = await stage.owner()
  const { page } = seen
  const isAwaited = Promise.withResolvers<void>()
  await page.route('**/submissions/*', async (route) => {
    await isAwaited.promise
    await route.continue()
  })
  await page.goto(stage.url(`events?sel=${accepted.body.records[0].id}`))
  await page.getByRole('treeitem').first().waitFor()
  for (const key of ['r', 'e', 'c']) await page.keyboard.press(key)
  assert.deepEqual([await page.getByRole('dialog').count(), await page.getByText('Copied as curl').count()], [0, 0])
  isAwaited.resolve()
  const button = page.getByRole('button', { name: /^Edit and send/ })
  await button.and(page.locator(':enabled')).waitFor()
  await page.keyboard.press('e')
  await page.getByRole('textbox', { name: 'Body' }).getByText('"comes.late"').waitFor()
  await seen.close()
})

test('no key of the page works while a person types in the editor; Tab leaves it', { skip: noBrowser }, async () => {
  const webhook = await aWebhook(stage.world, { name: 'Signed', verification: { scheme: 'code_host', secret: 'hush' } })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url(`endpoints?sel=${webhook.id}&tab=verification`))
  const tester = page.getByRole('form', { name: 'Signature tester' })
  const body = tester.getByRole('textbox', { name: 'Body' })
  await body.focus()
  await page.keyboard.type('tjn?')
  await body.getByText('tjn?').waitFor()
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'light')
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.match(page.url(), new RegExp(`sel=${webhook.id}`))
  await page.keyboard.press('Tab')
  await tester.getByRole('button', { name: 'Test the signature' }).and(page.locator(':focus')).waitFor()
  await seen.close()
})

test('the editor never runs a payload', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  for (const evil of CORPUS) {
    const accepted = await post(stage.world.endpoint, JSON.stringify({ type: 'evil', [evil]: evil }))
    await page.goto(stage.url(`events?sel=${accepted.body.records[0].id}`))
    await page.getByRole('treeitem').nth(2).waitFor()
    await page.getByRole('button', { name: /^Edit and send/ }).click()
    await page.getByRole('textbox', { name: 'Body' }).getByText('"evil"').waitFor()
  }
  await seen.close()
})
