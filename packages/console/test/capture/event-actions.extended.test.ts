import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink
let record: string

onStage(async (made) => {
  ;({ stage, sink } = made)
  sink.answer({ status: 500 })
  for (const name of ['first', 'second'])
    await aDestination(stage.world, { name, url: sink.url, retry: { schedule_seconds: [0] } })
  const accepted = await post(stage.world.endpoint, '{"type":"is.refused"}')
  record = accepted.body.records[0].id
  await are('failed', 2)
})

async function are(state: string, count: number): Promise<void> {
  await eventually(`${count} deliveries are ${state}`, async () =>
    (await stage.world.admin('GET', `deliveries?state=${state}&record_id=${record}`)).body.deliveries.length === count
      ? true
      : undefined,
  )
}

test('the window of an event asks before Escape discards the edits of its body', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url(`events?sel=${record}`))
  await page
    .getByRole('button', { name: /^Edit and send/ })
    .and(page.locator(':enabled'))
    .click()
  const editor = page.getByRole('textbox', { name: 'Body' })
  await editor.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"type":"edited"}')
  await editor.getByText('"edited"').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('Discard what you entered?').waitFor()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await editor.getByText('"edited"').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard it' }).click()
  await editor.waitFor({ state: 'detached' })
  await seen.close()
})

test(
  'a replay that the server refuses in the middle continues with the deliveries that were not sent',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    const asked: string[] = []
    await page.route('**/deliveries/*/replay', async (route) => {
      asked.push(route.request().url().split('/').at(-2) ?? '')
      if (asked.length === 2) await route.fulfill({ status: 409, json: { error: 'Not at this moment.' } })
      else await route.continue()
    })
    await page.goto(stage.url(`events?sel=${record}`))
    await page
      .getByRole('button', { name: /^Replay/ })
      .and(page.locator(':enabled'))
      .first()
      .click()
    await page.getByRole('button', { name: 'Send 2 now' }).click()
    await page.getByRole('alert').getByText('Not at this moment.').waitFor()
    await page.getByRole('button', { name: 'Send 1 now' }).click()
    await page.getByText('Sent again to 1 destination.').waitFor()
    assert.equal(asked[2], asked[1], 'the delivery that was sent is not sent again')
    await are('failed', 2)
    await seen.close()
  },
)

test('a plan for selected events knows what was done a moment ago', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByRole('row').filter({ hasText: 'is.refused' }).getByRole('checkbox', { name: 'Select' }).check()
  const bar = page.getByRole('toolbar', { name: 'Selected' })
  await bar.getByRole('button', { name: 'Retry' }).click()
  await page.getByText('There is nothing to do.').waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
  sink.answer({ status: 200 })
  await bar.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('button', { name: 'Send again 2' }).click()
  await page.getByText('2 of 2 sent again.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await are('delivered', 2)
  await bar.getByRole('button', { name: 'Replay' }).click()
  await page.getByLabel('Include 2 that were already accepted', { exact: false }).waitFor()
  await seen.close()
})

test(
  'the filter field shows the search of the address, after a button and after Back too',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('events?q=nothing.has.this'))
    const field = page.getByPlaceholder(/^Filter by field/)
    const shows = (text: string): Promise<true> =>
      eventually(`the field shows ${text}`, async () => ((await field.inputValue()) === text ? true : undefined))
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await shows('')
    await page.getByRole('row').filter({ hasText: 'is.refused' }).waitFor()
    await page.goBack()
    await shows('nothing.has.this')
    await field.fill('')
    await field.pressSequentially('is.refused')
    await page.getByRole('row').filter({ hasText: 'is.refused' }).waitFor()
    assert.equal(await field.inputValue(), 'is.refused')
    assert.equal(new URL(page.url()).searchParams.get('q'), 'is.refused')
    await seen.close()
  },
)

test(
  'the copy button beside the tabs of an event copies the content of the open tab',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    const copied = async (tab: string, label: string): Promise<string> => {
      await page.goto(stage.url(`events?sel=${record}&tab=${tab}`))
      await page.getByRole('button', { name: label, exact: true }).click()
      await page.getByText('Copied', { exact: true }).waitFor()
      return seen.copied()
    }
    assert.match(await copied('headers', 'Copy the headers'), /^content-type: .+$/im)
    assert.equal(await copied('raw', 'Copy the body'), '{"type":"is.refused"}')
    assert.equal(await copied('payload', 'Copy the payload'), '{"type":"is.refused"}')
    await seen.close()
  },
)

test(
  'a person finds keys and values of a long payload, line after line, and copies a value',
  { skip: noBrowser },
  async () => {
    const data = Object.fromEntries(Array.from({ length: 80 }, (_none, n) => [`field_${n}`, `value ${n}`]))
    const { records } = (await post(stage.world.endpoint, JSON.stringify(data))).body
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`events?sel=${records[0].id}`))
    const find = page.getByRole('textbox', { name: 'Find in payload' })
    const here = (key: string) => page.getByRole('treeitem', { selected: true }).filter({ hasText: `${key}:` })
    await find.fill('VALUE 7')
    await here('field_7').waitFor()
    await find.press('Enter')
    await here('field_70').waitFor()
    await here('field_70').hover()
    await page.getByRole('button', { name: 'copy value' }).click()
    assert.equal(await seen.copied(), 'value 70')
    await find.fill('nowhere')
    await page.getByText('No match').waitFor()
    await seen.picture('payload-find')
    await seen.close()
  },
)
