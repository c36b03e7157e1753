import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage } from './browser.ts'
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

/** Tests each place of one list in both themes. */
export function testScreens(places: keyof typeof LISTS = 'daily'): void {
  describe(
    `${places} places: each is accessible in both themes, and the policy refuses nothing`,
    { skip: noBrowser },
    () => {
      for (const place of inEighth<Place>(LISTS[places])) test(place.name, () => testPlace(place, places))
    },
  )
}

async function testPlace(place: Place, places: keyof typeof LISTS): Promise<void> {
  assert.ok(made !== undefined)
  const seen = await stage.owner()
  await openPlace({ seen, stage, scene: made.scene }, place, async (state) => {
    await seen.accessibleInBothThemes(`${place.name} ${state}`)
    if (places === 'other') assert.deepEqual(await outside(seen.page), [], `${place.name} ${state}`)
  })
  await seen.close()
}
