import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { createBodyOf, createDraftOf, SIGNED_SENDERS } from '../../src/parts/senders.ts'
import { newSecret, signedCurl } from '../../src/screens/capture/events/signed-commands.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage

before(async () => {
  if (noBrowser === false) stage = await aStage()
})
after(() => stage?.stop())

test(
  'the printed link signs in, the printed curl sends an event, and the screen shows the event and its path',
  { skip: noBrowser },
  async () => {
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
  },
)

test('a stranger goes to the sign-in page, whose address contains the way back', { skip: noBrowser }, async () => {
  const seen = await stage.stranger()
  await seen.page.goto(stage.url('deliveries?state=failed'))
  await seen.page.waitForURL('**/sign-in?next=*')
  assert.equal(
    new URL(seen.page.url()).searchParams.get('next'),
    new URL(stage.url('deliveries?state=failed')).pathname + '?state=failed',
  )
  await seen.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await seen.close()
})

test('the page of an expired link says so, and how to get another link', { skip: noBrowser }, async () => {
  const seen = await stage.stranger()
  await seen.page.goto(`${stage.world.baseUrl}/#t=${'x'.repeat(43)}`)
  await seen.page.getByText('This link was already used').waitFor()
  await seen.page.getByText('npx postroad sign-in-link').waitFor()
  await seen.close()
})

test(
  'the first event moves along the time line and opens by itself; without motion it opens immediately',
  { skip: noBrowser },
  async () => {
    for (const motion of ['no-preference', 'reduce'] as const) {
      const project = (await stage.world.admin('POST', 'projects', { name: `Landing ${motion}` })).body.project
      const { webhook } = (await stage.world.admin('POST', `projects/${project.id}/webhooks`, { name: 'First' })).body
      const seen = await stage.owner('light', motion)
      const { page } = seen
      await page.goto(`${stage.world.baseUrl}/${stage.world.installed.workspace.slug}/${project.slug}/events`)
      await page.getByText('Listening').waitFor()
      await seen.picture(`first-run-${motion}`)
      // An observer of every change of the page detects whether the page showed the sentence.
      await page.evaluate(
        "window.landed = false; new MutationObserver(() => { window.landed ||= document.body.innerText.includes('Your first event is here') }).observe(document.body, { childList: true, subtree: true, characterData: true })",
      )
      await post(webhook.public_url, '{"type":"first.ever","total":1}')
      await page.getByRole('group', { name: 'Path of this event' }).getByText('Received').waitFor()
      assert.match(page.url(), /sel=rec_/)
      assert.equal(await page.evaluate('window.landed'), motion === 'no-preference')
      await seen.close()
    }
  },
)

test(
  'each known sender gets an endpoint that checks its signature, and a command that the endpoint accepts',
  { skip: noBrowser },
  async () => {
    const project = (await stage.world.admin('POST', 'projects', { name: 'Signed start' })).body.project
    await stage.world.admin('POST', `projects/${project.id}/webhooks`, { name: 'First' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.world.baseUrl}/${stage.world.installed.workspace.slug}/${project.slug}/events`)
    await page.getByText('Listening').waitFor()
    await page.getByRole('group', { name: 'Sender' }).getByRole('button', { name: 'GitHub' }).click()
    await page.getByRole('button', { name: 'Create the endpoint' }).click()
    const command = await page.getByLabel('Signed command').innerText()
    await seen.picture('signed-command-dark')
    assert.equal(await statusOf(command), '201')
    await page.getByRole('group', { name: 'Path of this event' }).getByText('GitHub signature').waitFor()
    await seen.close()
  },
)

test(
  'the command of every sender makes a signature that its endpoint accepts only with the right secret',
  { skip: noBrowser },
  async () => {
    for (const sender of SIGNED_SENDERS) {
      const { name, verification } = sender
      const secret = newSecret(verification.scheme)
      const draft = createDraftOf(sender)
      const { public_url: url } = await aWebhook(
        stage.world,
        createBodyOf(sender, { ...draft, name: `Signed: ${name}`, verification: { ...draft.verification, secret } }),
      )
      assert.equal(await statusOf(signedCurl({ sender, url, secret })), '201', name)
      assert.equal(await statusOf(signedCurl({ sender, url, secret: newSecret(verification.scheme) })), '401', name)
    }
  },
)

/** Runs a printed command at the time of the server, whose clock does not move by itself. */
async function statusOf(command: string): Promise<string> {
  const at = String(Math.floor(stage.world.clock.now() / 1_000))
  const { stdout } = await promisify(execFile)('sh', [
    '-ec',
    command.replaceAll('$(date +%s)', at).replace(/^curl /m, "curl -s -o /dev/null -w '%{http_code}' "),
  ])
  return stdout
}

test('the title of the tab counts unseen events, and its icon has a dot', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByText('Live', { exact: true }).waitFor()
  const icon = (): Promise<string> => page.evaluate("decodeURIComponent(document.querySelector('#icon').href)")
  await eventually('the icon has its small dot', async () => ((await icon()).includes('r="4"') ? true : undefined))
  await page.evaluate(
    "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }); document.dispatchEvent(new Event('visibilitychange'))",
  )
  for (const n of [1, 2]) await post(stage.world.endpoint, JSON.stringify({ type: 'while.away', n }))
  await eventually('the title counts both events', async () =>
    (await page.title()) === '(2) Events · Postroad' ? true : undefined,
  )
  assert.match(await icon(), /r="6"/)
  await page.evaluate(
    "Object.defineProperty(document, 'hidden', { configurable: true, get: () => false }); document.dispatchEvent(new Event('visibilitychange'))",
  )
  await eventually('the title counts nothing', async () =>
    (await page.title()) === 'Events · Postroad' ? true : undefined,
  )
  await seen.close()
})
