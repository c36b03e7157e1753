import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage, type Theme } from './browser.ts'
import type { Place } from './place.ts'
import { AUTOMATION_PLACES, MORE_PLACES, openPlace, PLACES } from './places.ts'
import { aScene, type Made } from './scene.ts'
import { OPERATOR } from './settings.ts'
import { outside } from './widths.ts'

type Prepared = { readonly stage: Stage; readonly bad: Sink; readonly recordId: string }

let stage: Stage
let made: Made | undefined

/** All tests of a file look at this scene: an event that one destination took, one refused, and one did not want. */
export function onScreens(prepare: (made: Prepared) => void): void {
  before(() => makeAll(prepare))
  after(async () => {
    await stage?.stop()
    await made?.stop()
  })
}

async function makeAll(prepare: (made: Prepared) => void): Promise<void> {
  if (noBrowser !== false) return
  stage = await aStage({ env: { OPERATORS: OPERATOR } })
  made = await aScene(stage)
  prepare({ stage, bad: made.bad, recordId: made.scene.event.id })
}

const LISTS = { daily: PLACES, other: MORE_PLACES, automation: AUTOMATION_PLACES } as const

type Named = { readonly theme: Theme; readonly places: keyof typeof LISTS }

/** The places of daily work, or others, in one theme. */
export function testScreens(theme: Theme, places: keyof typeof LISTS = 'daily'): void {
  describe(
    `${theme}, ${places} places: each is accessible, and the policy refuses nothing`,
    { skip: noBrowser },
    () => {
      for (const place of LISTS[places]) test(place.name, () => testPlace(place, { theme, places }))
    },
  )
}

async function testPlace(place: Place, { theme, places }: Named): Promise<void> {
  assert.ok(made !== undefined)
  const seen = await stage.owner(theme)
  await openPlace({ seen, stage, scene: made.scene }, place, async (state) => {
    await seen.accessible(`${place.name} ${state}`)
    // Both themes have the same layout.
    if (theme === 'light' && places === 'other')
      assert.deepEqual(await outside(seen.page), [], `${place.name} ${state}`)
  })
  assert.equal(await seen.page.evaluate('document.documentElement.dataset.theme'), theme)
  await seen.close()
}
