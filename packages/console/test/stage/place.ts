import type { Role } from '@postroad/contract'
import type { Page } from 'playwright-core'
import type { AutomationScene } from './automation-scene.ts'
import type { Seen, Stage } from './browser.ts'

/** A place of the console to look at, and the steps that many of them share. */

/** The names and ids of a project that has one of each thing. */
export type Scene = {
  readonly event: { readonly id: string; readonly title: string }
  /** A destination whose deliveries succeed, and one whose deliveries have failed. */
  readonly healthy: { readonly id: string; readonly name: string }
  readonly failing: { readonly id: string; readonly name: string }
  readonly endpointId: string
  readonly ingestKeyId: string
  readonly ruleId: string
  readonly transformId: string
  readonly portalId: string
  /** The slug of a project that has an endpoint and no event. */
  readonly fresh: string
  readonly automation: AutomationScene
}

/** Looks at the page now; `state` is the name of this state of the place. */
export type Look = (state: string) => Promise<void>

export type Place<Of = Scene> = {
  readonly name: string
  /** The path below the project. */
  readonly at: (scene: Of) => string
  /** The slug of the project, if it is not the Default project. */
  readonly within?: (scene: Of) => string
  /** The role of the member who looks, if it is not the owner. */
  readonly as?: Role
  /** Opens the subject of the place and waits until it is there. With several states, it calls `look` for each. */
  readonly show: (seen: Seen, scene: Of, look: Look) => Promise<void>
}

/** Goes to a place and opens it; `look` is called at each of its states, at least once. */
export async function openPlace<Of>(
  { seen, stage, scene }: { readonly seen: Seen; readonly stage: Stage; readonly scene: Of },
  { at, within, show }: Place<Of>,
  look: Look,
): Promise<void> {
  let looks = 0
  await seen.page.goto(stage.url(at(scene), within?.(scene)))
  // Found by its attribute, because a dialog that opens with the page takes the navigation out of the tree of roles.
  await seen.page.locator('nav[aria-label="Main"]').waitFor()
  await show(seen, scene, (state) => {
    looks += 1
    return look(state)
  })
  if (looks === 0) await look('')
}

export const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { name }).first().waitFor()
export const grid = (page: Page, name: string): Promise<void> =>
  page.getByRole('grid', { name }).getByRole('row').nth(1).waitFor()
export const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).first().click()

/** Opens each tab of a panel in turn. */
export async function eachTab({ page }: Seen, tabs: readonly string[], look: Look): Promise<void> {
  for (const tab of tabs) {
    await page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click()
    await page.getByRole('tab', { name: new RegExp(`^${tab}`), selected: true }).waitFor()
    await look(tab)
  }
}

/** Answers every page of a list with the same rows, so that the list never ends; `pageOf` gets the number of the page. */
export async function endless(
  page: Page,
  { url, pageOf }: { url: string; pageOf: (n: number) => object },
): Promise<void> {
  let asked = 0
  await page.route(url, (route) => {
    asked += 1
    return route.fulfill({ json: pageOf(asked) })
  })
}
