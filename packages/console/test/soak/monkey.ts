import type { Page } from 'playwright-core'
import { post } from '../../../server/test/stage/fixtures.ts'
import { Chance, payloadFrom } from '../pictures/senders.ts'
import { keepTime } from '../pictures/take.ts'
import { CORPUS, type Seen, type Stage } from '../stage/browser.ts'
import type { Place, Scene } from '../stage/place.ts'
import { AUTOMATION_PLACES, MORE_PLACES, PLACES } from '../stage/places.ts'
import { targetsOf, type Target } from './targets.ts'

/**
 * A monkey that clicks, types and presses keys in the real console, as an operator, an owner and a viewer in turn. A walk is an episode
 * of steps from one place. Its choices follow from the seed and its number alone, so the same walk runs again without the others.
 */

const STEPS = 50
const HANG_MS = 20_000
const EVENT_EVERY = 15
const PLACES_ALL: readonly Place[] = [...PLACES, ...MORE_PLACES, ...AUTOMATION_PLACES]
const WHO = ['operator', 'owner', 'viewer'] as const
type Who = (typeof WHO)[number]

export type MonkeyOrder = {
  readonly seed: number
  /** The run ends after this time, or after this many walks. */
  readonly until: { readonly minutes: number } | { readonly walks: number }
  /** Takes only the walk with this number. */
  readonly walk?: number | undefined
  readonly say: (line: string) => void
}

/** A fault, and the steps that lead to it. */
export type Found = {
  readonly fault: string
  readonly walk: number
  readonly who: Who
  readonly steps: readonly string[]
}
export type Walked = { readonly walks: number; readonly steps: number; readonly found: readonly Found[] }

type Stand = { readonly stage: Stage; readonly scene: Scene }

export async function releaseMonkey(on: Stand, { seed, until, walk, say }: MonkeyOrder): Promise<Walked> {
  const ticking = keepTime(on.stage)
  const found = new Map<string, Found>()
  const end = 'minutes' in until ? performance.now() + until.minutes * 60_000 : Infinity
  const last = walk ?? ('walks' in until ? until.walks - 1 : Infinity)
  let [walks, steps] = [0, 0]
  try {
    for (let number = walk ?? 0; number <= last && performance.now() < end; number += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one walk after the other
      const taken = await takeWalk(on, { seed, number, end })
      walks += 1
      steps += taken.steps.length
      for (const fault of taken.faults.filter((one) => !found.has(kindOf(one)))) {
        found.set(kindOf(fault), { fault, walk: number, who: taken.who, steps: taken.steps })
        say(`walk ${number} as ${taken.who}: ${fault}`)
      }
    }
    return { walks, steps, found: [...found.values()] }
  } finally {
    clearInterval(ticking)
  }
}

/** A key that is the same for faults that differ only in ids and numbers. */
const kindOf = (fault: string): string => fault.replaceAll(/[0-9a-f]{8,}|\d+/g, '#').slice(0, 160)

/** Repeats the navigation if that of the previous step is still under way. */
async function goTo(page: Page, address: string): Promise<void> {
  try {
    await page.goto(address)
  } catch (error) {
    if (!/interrupted by another navigation|ERR_ABORTED/.test(String(error))) throw error
    await page.waitForLoadState()
    await page.goto(address)
  }
}

type WalkOf = { readonly seed: number; readonly number: number; readonly end: number }

async function takeWalk({ stage, scene }: Stand, { seed, number, end }: WalkOf) {
  const chance = chanceOf(seed, number)
  const who = WHO[number % WHO.length] ?? 'owner'
  const seen = who === 'operator' ? await stage.owner() : await stage.member(who)
  const { page } = seen
  const faults = watchFaults(seen)
  await stayAtHome(page, stage.world.baseUrl)
  const steps: string[] = []
  const start = async (): Promise<void> => {
    const place = placeFor(who, chance)
    const address = place.at(scene)
    const project = place.within?.(scene)
    steps.push(`open ${address}${project === undefined ? '' : ` of the project ${project}`}`)
    await goTo(page, stage.url(address, project))
    await page.locator('nav[aria-label="Main"]').waitFor()
  }
  try {
    await start()
    while (steps.length < STEPS && performance.now() < end && faults().length === 0) {
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      await timed(takeStep({ page, chance, home: stage.world.baseUrl, steps }))
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      if (await isOutside(page, stage)) await start()
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      if (steps.length % EVENT_EVERY === 0) await post(stage.world.endpoint, payloadFrom('checkout', chance, 0).body)
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      for (const fault of await boundaryFaults(page)) seen.faults.push(fault)
    }
  } catch (error) {
    seen.faults.push(`the walk could not go on: ${String(error).split('\n')[0] ?? ''}`)
  }
  const all = [...faults()]
  await page.context().close()
  return { who, steps, faults: all }
}

/** A different start for each walk, far from its neighbors. */
function chanceOf(seed: number, number: number): Chance {
  const chance = new Chance(Math.imul(seed, 2_654_435_761) ^ Math.imul(number + 1, 40_503_551))
  for (let index = 0; index < 8; index += 1) chance.next()
  return chance
}

/** Operators often start on their screen, because only they can. */
function placeFor(who: Who, chance: Chance): Place {
  const place = PLACES_ALL[chance.upTo(PLACES_ALL.length)]
  const own =
    who === 'operator' && chance.upTo(4) === 0 ? PLACES_ALL.find(({ name }) => name === 'operators') : undefined
  const chosen = own ?? place ?? PLACES_ALL[0]
  if (chosen === undefined) throw new Error('There is no place to begin at.')
  return chosen
}

/** Errors of the page and of the policy come from `Seen`; a 5xx is a fault too. 501 is how the server says that it has no such feature. */
function watchFaults(seen: Seen): () => readonly string[] {
  seen.page.on('response', (response) => {
    const status = response.status()
    if (status >= 500 && status !== 501)
      seen.faults.push(`${response.request().method()} ${new URL(response.url()).pathname} answered ${status}`)
  })
  return () => seen.faults
}

/** Prevents other sites and other windows. */
async function stayAtHome(page: Page, home: string): Promise<void> {
  const { origin } = new URL(home)
  await page.context().route(
    (url) => url.protocol.startsWith('http') && url.origin !== origin,
    (route) => route.abort(),
  )
  page.context().on('page', (other) => void other.close())
}

async function isOutside(page: Page, stage: Stage): Promise<boolean> {
  const { pathname } = new URL(page.url(), stage.world.baseUrl)
  return !pathname.startsWith(`/${stage.world.installed.workspace.slug}/`)
}

async function boundaryFaults(page: Page): Promise<readonly string[]> {
  const broken = page.getByRole('heading', { name: 'This page could not be shown' })
  if ((await broken.count()) === 0) return []
  return [`an error boundary: ${await broken.locator('..').innerText()}`]
}

async function timed<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`The page did not respond for ${HANG_MS / 1_000} s.`)), HANG_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

type Step = { readonly page: Page; readonly chance: Chance; readonly home: string; readonly steps: string[] }

const KEYS = [
  'j',
  'k',
  '/',
  'Enter',
  'Escape',
  '1',
  '2',
  '3',
  '4',
  '5',
  '6',
  'r',
  'e',
  'c',
  'y',
  'l',
  '.',
  'x',
  'Shift+X',
  's',
  '=',
  '?',
  't',
  'Tab',
  'Tab',
  'Shift+Tab',
  'ArrowDown',
  'ArrowUp',
  'ArrowLeft',
  'ArrowRight',
  'Home',
  'End',
  'PageDown',
  'Space',
  'Backspace',
  'ControlOrMeta+k',
  'ControlOrMeta+Enter',
  'ControlOrMeta+a',
  'ControlOrMeta+z',
  'g o',
  'g e',
  'g d',
  'g p',
  'g r',
  'g n',
  'g w',
  'g a',
] as const
const WORDS = [
  ...CORPUS,
  '',
  'a',
  '0',
  '-1',
  '1e400',
  '12345678901234567890',
  '   ',
  '.*',
  '(',
  '[',
  '{',
  '{"a":[1,{"b":null}]}',
  'x'.repeat(3_000),
  'data.object.id',
  'total:gt:5',
  '2026-11-24',
  '* * * * *',
  '10.0.0.0/8',
  '{{ record.id }}',
  '%00%ff',
  "'; drop table records; --",
  '名前 🦊 \u202Eabc',
  'person@example.com',
  'http://127.0.0.1:9/hook',
  'orders',
  'Renamed',
  '2h',
  '\\',
  '__proto__',
  'null',
] as const
const WINDOWS = [
  { width: 375, height: 800 },
  { width: 768, height: 900 },
  { width: 1_440, height: 900 },
] as const

/** Does one random thing, and lets the page draw. */
async function takeStep(step: Step): Promise<void> {
  const { page, chance, steps } = step
  const roll = chance.upTo(100)
  if (roll < 62) await clickOrType(step)
  else if (roll < 88) {
    const keys = KEYS[chance.upTo(KEYS.length)] ?? 'Escape'
    steps.push(`press ${keys}`)
    for (const key of keys.split(' ')) {
      // oxlint-disable-next-line no-await-in-loop -- one key after the other
      await page.keyboard.press(key)
    }
  } else if (roll < 92) {
    steps.push('go back')
    await page.goBack({ waitUntil: 'commit' })
  } else if (roll < 94) {
    steps.push('go forward')
    await page.goForward({ waitUntil: 'commit' })
  } else if (roll < 96) {
    steps.push('reload')
    await page.reload({ waitUntil: 'commit' })
  } else if (roll < 98) {
    const window = WINDOWS[chance.upTo(WINDOWS.length)] ?? WINDOWS[0]
    steps.push(`window ${window.width} × ${window.height}`)
    await page.setViewportSize(window)
  } else {
    const by = chance.of([-2_000, 600, 5_000])
    steps.push(`scroll by ${by}`)
    await page.mouse.wheel(0, by)
  }
  await drawn(page)
}

async function clickOrType({ page, chance, steps, home }: Step): Promise<void> {
  const targets = await targetsOf(page, home)
  const target = oneOf(targets, chance)
  if (target === undefined) {
    steps.push('press Escape, because there is nothing to click')
    return page.keyboard.press('Escape')
  }
  await page.mouse.click(target.x, target.y)
  if (!target.isField) {
    steps.push(`click ${target.role} "${target.name}"`)
    return
  }
  const word = WORDS[chance.upTo(WORDS.length)] ?? ''
  const isSent = chance.upTo(3) === 0
  steps.push(`type ${JSON.stringify(word.slice(0, 60))} into "${target.name}"${isSent ? ' and press Enter' : ''}`)
  await page.keyboard.press('ControlOrMeta+a')
  await (word === '' ? page.keyboard.press('Delete') : page.keyboard.insertText(word))
  if (isSent) await page.keyboard.press('Enter')
}

/** Picks first a role, then a target with this role: a page has many rows and few buttons. */
function oneOf(targets: readonly Target[], chance: Chance): Target | undefined {
  const byRole = new Map<string, Target[]>()
  for (const target of targets) byRole.set(target.role, [...(byRole.get(target.role) ?? []), target])
  const roles = [...byRole.values()]
  const same = roles[chance.upTo(roles.length)] ?? []
  return same[chance.upTo(same.length)]
}

async function drawn(page: Page): Promise<void> {
  try {
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))',
    )
  } catch (error) {
    // An error is expected when the step left the page.
    if (!String(error).includes('Execution context was destroyed') && !String(error).includes('navigation')) throw error
    await page.waitForLoadState('domcontentloaded')
  }
}

/** A fault with the command and the steps that lead to it. */
export function foundText(seed: number, { fault, walk, who, steps }: Found): string {
  const way = steps.map((step, index) => `  ${String(index + 1).padStart(2)}. ${step}`)
  return [`${fault}\n  npm run soak -- monkey --seed ${seed} --walk ${walk}   (as ${who})`, ...way].join('\n')
}
