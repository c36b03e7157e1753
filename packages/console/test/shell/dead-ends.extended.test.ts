import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aRule } from '../../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'
import { aLine } from '../stage/line.ts'

let stage: Stage
let sink: Sink

onStage((made) => {
  ;({ stage, sink } = made)
})

const membersOf = (url: string): string[] => [...new URL(url).searchParams.keys()]

test('Back and Close each close the panel beside a list in one step', { skip: noBrowser }, async () => {
  const one = await aDestination(stage.world, { name: 'First one', url: sink.url, datasets: ['Nothing'] })
  await aDestination(stage.world, { name: 'Second one', url: sink.url, datasets: ['Nothing'] })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('rules'))
  await page.getByRole('heading', { name: 'No rules yet' }).waitFor()
  await page.getByRole('link', { name: 'Destinations' }).click()
  const panel = page.getByRole('region', { name: 'Destination', exact: true })
  const open = (name: string): Promise<void> => page.getByRole('row').filter({ hasText: name }).click()
  await open('First one')
  await panel.getByRole('heading', { name: 'First one' }).waitFor()
  await page.getByRole('tab', { name: 'Signing' }).click()
  await open('Second one')
  await panel.getByRole('heading', { name: 'Second one' }).waitFor()
  await page.goBack()
  await panel.waitFor({ state: 'detached' })
  assert.deepEqual(membersOf(page.url()), [])

  await open('First one')
  await panel.getByRole('button', { name: 'Close', exact: true }).click()
  await panel.waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('heading', { name: 'No rules yet' }).waitFor()

  // A person who followed a link has no list to return to.
  await page.goto(`${stage.url('destinations')}?sel=${one.destination.id}`)
  await panel.getByRole('button', { name: 'Close', exact: true }).click()
  await panel.waitFor({ state: 'detached' })
  assert.deepEqual(membersOf(page.url()), [])
  await seen.close()
})

test(
  'the console asks about unsaved edits before a tab, a row, another screen or Back discards them',
  { skip: noBrowser },
  async () => {
    const { destination } = await aDestination(stage.world, { name: 'Edited', url: sink.url, datasets: ['Nothing'] })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('destinations'))
    await page.getByRole('row').filter({ hasText: 'Edited' }).click()
    await page.getByRole('tab', { name: 'Settings' }).click()
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Renamed')
    const dialog = page.getByRole('dialog', { name: 'Discard changes?' })
    const leave = [
      () => page.getByRole('tab', { name: 'Signing' }).click(),
      () => page.getByRole('row').filter({ hasText: 'First one' }).click(),
      () => page.getByRole('link', { name: 'Events', exact: true }).click(),
      async () => {
        await page.goBack()
      },
    ]
    for (const go of leave) {
      await go()
      await dialog.waitFor()
      await dialog.getByRole('button', { name: 'Keep editing' }).click()
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await name.inputValue(), 'Renamed')
      assert.deepEqual(new URL(page.url()).searchParams.get('sel'), destination.id)
    }
    // The filter of the list does not close the panel.
    await page.getByRole('tab', { name: 'Signing' }).click()
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('button', { name: 'Reveal' }).waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    assert.equal(await name.inputValue(), 'Edited')
    await seen.close()
  },
)

test('Escape and Back ask about the text in a dialog; Cancel discards it', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByRole('link', { name: 'Rules' }).click()
  const begin = page.getByRole('button', { name: 'New rule' }).last()
  await begin.click()
  const name = page.getByLabel('Name', { exact: true })
  await name.waitFor()
  await page.keyboard.press('Escape')
  await name.waitFor({ state: 'detached' })
  await begin.click()
  await name.fill('half a rule')
  await page.keyboard.press('Escape')
  await page.getByText('Discard what you entered?').waitFor()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  assert.equal(await name.inputValue(), 'half a rule')
  await page.goBack()
  await page.getByText('Discard what you entered?').waitFor()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  assert.equal(await name.inputValue(), 'half a rule')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard it' }).click()
  await name.waitFor({ state: 'detached' })
  await begin.click()
  await name.fill('another half')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await name.waitFor({ state: 'detached' })
  await seen.close()
})

test('a used link opens the console for a person who is signed in', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(`${stage.world.baseUrl}/#t=${'x'.repeat(43)}`)
  await page.waitForURL(stage.url('events'))
  await page.goto(`${stage.world.baseUrl}/sign-in/link#t=${'x'.repeat(43)}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(stage.url('events'))
  await seen.close()
})

test(
  'a screen that cannot load while the server does not answer says so, and opens by itself when the server answers again',
  { skip: noBrowser },
  async () => {
    await aRule(stage.world, { name: 'A rule to see' })
    const line = await aLine(stage.world.address)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events').replace(stage.world.baseUrl, line.url))
    await page.getByRole('link', { name: 'Rules' }).waitFor()
    line.cut()
    await page.getByRole('link', { name: 'Rules' }).hover()
    await page.getByRole('link', { name: 'Rules' }).click()
    await page.getByRole('heading', { name: 'The server is not responding' }).waitFor()
    await seen.picture('away')
    line.mend()
    await page.getByRole('row').filter({ hasText: 'A rule to see' }).waitFor()
    assert.match(page.url(), /\/rules$/)
    // The browser logs the module that it could not load; there must be no other error.
    assert.deepEqual(
      seen.faults.splice(0).filter((fault) => !fault.startsWith('console: NotLoaded')),
      [],
    )
    await seen.close()
    line.stop()
  },
)

test('the palette finds the actions of every screen and of the open thing', { skip: noBrowser }, async () => {
  const { destination } = await aDestination(stage.world, { name: 'Palette', url: sink.url, datasets: ['Nothing'] })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('overview'))
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const palette = page.getByRole('combobox', { name: 'Search or run' })
  const find = async (text: string): Promise<string[]> => {
    await page.keyboard.press('ControlOrMeta+k')
    await palette.fill(text)
    const found = await page.getByRole('option').allInnerTexts()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    return found.map((one) => one.split('\n')[0] ?? '')
  }
  for (const action of [
    'New endpoint',
    'New ingest key',
    'New rule',
    'New destination',
    'Replay deliveries in bulk',
    'Replay history',
    'Keyboard shortcuts',
    'Account',
    'Sign out',
    'Light or dark',
  ])
    assert.deepEqual((await find(action)).slice(0, 1), [action])
  assert.deepEqual(await find('failing view of events'), ['Failing'])

  // From another screen: the dialog is open, and Back does not open it again.
  await page.keyboard.press('ControlOrMeta+k')
  await palette.fill('new rule')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor()
  assert.deepEqual(membersOf(page.url()), [])
  await page.keyboard.press('Escape')

  await page.goto(`${stage.url('destinations')}?sel=${destination.id}`)
  await page.getByRole('button', { name: 'Send a test' }).waitFor()
  for (const action of ['Send a test', 'Turn off', 'Signing', 'Copy as curl', 'Recover since…', 'Delete…'])
    assert.ok((await find(action)).includes(action), action)
  await page.keyboard.press('ControlOrMeta+k')
  await palette.fill('recover since')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('Recover').first().waitFor()
  await seen.close()
})

test(
  'arrow keys choose a command in the palette, and the page is still there after it closes',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('overview'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('combobox', { name: 'Search or run' })
    await palette.fill('new')
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key)
    await page.getByRole('option', { selected: true }).and(page.getByRole('option').nth(1)).waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await seen.close()
  },
)

test('an empty project has a button that makes its first endpoint', { skip: noBrowser }, async () => {
  const { project } = (await stage.world.admin('POST', 'projects', { name: 'Empty' })).body
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(`${stage.world.baseUrl}/${stage.world.installed.workspace.slug}/${project.slug}/events`)
  await page.getByRole('button', { name: 'Create an endpoint' }).waitFor()
  await seen.picture('empty-project')
  await page.getByRole('button', { name: 'Create an endpoint' }).click()
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor()
  await seen.close()
})

test(
  'the guide stays until the first delivery has arrived, at a sink that one button makes',
  { skip: noBrowser },
  async () => {
    const { project } = (await stage.world.admin('POST', 'projects', { name: 'Guided' })).body
    await stage.world.admin('POST', `projects/${project.id}/webhooks`, { name: 'First' })
    const seen = await stage.owner()
    const { page } = seen
    const events = `${stage.world.baseUrl}/${stage.world.installed.workspace.slug}/${project.slug}/events`
    await page.goto(events)
    await page.getByText('Listening').waitFor()
    await seen.picture('guide-0')
    await page.getByRole('button', { name: 'Send it from here' }).click()
    await page.getByRole('region', { name: 'Event', exact: true }).waitFor()
    const guide = page.getByRole('region', { name: 'First steps' })
    await guide.getByRole('button', { name: 'Create a sink' }).waitFor()
    await seen.picture('guide-1')
    await page.reload()
    await guide.getByRole('button', { name: 'Create a sink' }).click()
    await guide.getByText('New events are delivered to Sink.').waitFor()
    await seen.picture('guide-2')
    await guide.getByRole('button', { name: 'Send an event' }).click()
    await page.getByRole('dialog').getByRole('button', { name: /^Send/ }).last().click()
    await guide.getByText('The first delivery has arrived.').waitFor()
    await seen.picture('guide-3')
    const { deliveries } = (await stage.world.admin('GET', `projects/${project.id}/deliveries?state=delivered`)).body
    assert.equal(deliveries.length, 1)
    await page.goto(events)
    await page.getByRole('row').first().waitFor()
    await guide.waitFor({ state: 'detached' })
    await seen.close()
  },
)

test('one press makes a sink, and its deliveries show the events that arrived', { skip: noBrowser }, async () => {
  const { project } = (await stage.world.admin('POST', 'projects', { name: 'Sunk' })).body
  const { webhook } = (await stage.world.admin('POST', `projects/${project.id}/webhooks`, { name: 'First' })).body
  const seen = await stage.owner('dark')
  const { page } = seen
  const at = `${stage.world.baseUrl}/${stage.world.installed.workspace.slug}/${project.slug}/`
  await page.goto(`${at}deliveries`)
  await page.getByRole('heading', { name: 'Nothing has been delivered yet' }).waitFor()
  await page.getByRole('button', { name: 'New destination' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create a sink' }).click()
  await page.getByRole('region', { name: 'Destination', exact: true }).getByRole('heading', { name: 'Sink' }).waitFor()
  await fetch(webhook.public_url, { method: 'POST', body: '{"n":1}' })
  const found = await eventually(
    'the sink gets the event',
    async () =>
      (await stage.world.admin('GET', `projects/${project.id}/deliveries?state=delivered`)).body.deliveries[0],
  )
  await page.goto(`${at}deliveries?sel=${found.id}`)
  await page
    .getByRole('group', { name: 'Attempts' })
    .getByText(/"verified": true/)
    .waitFor()
  await seen.close()
})
