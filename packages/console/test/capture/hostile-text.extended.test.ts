import { test } from 'node:test'
import { aDestination, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { CORPUS, noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink

onStage((made) => {
  ;({ stage, sink } = made)
})

test(
  'the console never runs a text that a sender or a member wrote: in values, keys, headers and names',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const ids: string[] = []
    for (const evil of CORPUS) {
      const { public_url } = await aWebhook(world, { name: evil.slice(0, 110) })
      await aDestination(world, {
        name: evil.slice(0, 110),
        url: sink.url,
        conditions: [{ path: 'never', equals: evil }],
      })
      const body = JSON.stringify({ type: evil, [evil]: { [evil]: [evil] }, total: 1 })
      ids.push((await post(public_url, body, { headers: { 'x-evil': evil, 'user-agent': evil } })).body.records[0].id)
    }
    const seen = await stage.owner()
    const { page } = seen
    for (const id of ids) {
      await page.goto(stage.url(`events?sel=${id}`))
      await page.getByRole('treeitem').nth(3).waitFor()
      for (const tab of ['Headers', 'Routing', 'Raw', 'Deliveries'])
        await page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click()
    }
    for (const evil of CORPUS) {
      await page.goto(
        `${stage.url('events')}?${new URLSearchParams({ f: `type:equals:${evil}`, q: evil, view: evil, sel: evil, dataset: evil, range: evil, tab: evil }).toString()}`,
      )
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      await page.goto(
        `${stage.url('deliveries')}?${new URLSearchParams({ state: evil, destination: evil, sel: evil }).toString()}`,
      )
      await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
      await page.goto(`${world.baseUrl}/${encodeURIComponent(evil)}/${encodeURIComponent(evil)}/events`)
      await page.getByText(/You are not a member of the workspace/).waitFor()
    }
    await seen.close()
  },
)
