import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TEXT_CONTRAST } from '../../src/ui/accent.ts'
import { contrast, shown, type Rgb } from '../../src/ui/oklch.ts'

/** The contrast of each text of the console and of the portal, computed from the tokens. The walks look at the light theme and at a part of the dark one. */

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

const PAGES = ['canvas', 'surface', 'sunken', 'raised']
const SOFT = ['accent-soft', 'fail-soft', 'retry-soft', 'ok-soft']
const hovered = (grounds: readonly string[]): readonly string[] => grounds.map((ground) => `${ground} hover`)
const pressed = (grounds: readonly string[]): readonly string[] => grounds.map((ground) => `${ground} press`)

const PLAIN = [...PAGES, ...hovered(PAGES), ...SOFT]
/** The side bar, tabs and switches have a pressed state, and no menu has one. */
const EVERYWHERE = [...PLAIN, ...pressed(['canvas', 'surface', 'sunken'])]

/** The backgrounds on which a text may be. */
const GROUNDS: Readonly<Record<string, readonly string[]>> = {
  ink: EVERYWHERE,
  'ink-2': EVERYWHERE,
  'ink-3': EVERYWHERE,
  accent: EVERYWHERE,
  fail: PLAIN,
  'retry-text': PLAIN,
  'ok-text': PLAIN,
  flow: PLAIN,
  'j-key': PLAIN,
  'j-str': PLAIN,
  'j-num': PLAIN,
  'j-bool': PLAIN,
  'on-ink': ['ink'],
  'on-ink/75': ['ink'],
  'block-ink': ['block', 'block-line'],
  'block-ink-2': ['block', 'block-line'],
  'block-word': ['block'],
  'block-quoted': ['block'],
  'block-option': ['block'],
}
/** The comma between two values, and the color of a brand, which `accent.test.ts` tests. */
const NO_TEXT = ['ink-4', 'on-brand', 'current']
/** Backgrounds of lines, dots and bars, which have no text on them. */
const NO_GROUND = [
  'line',
  'line-2',
  'bar',
  'ok',
  'ok-quiet',
  'retry',
  'fail',
  'flow',
  'accent',
  'ink-3',
  'ink-4',
  'current',
  'transparent',
  'brand',
  'hover',
  'press',
  'accent-soft/60',
]

type Color = { readonly rgb: Rgb; readonly alpha: number }
type Colors = Readonly<Record<string, Color>>

function colorsIn(css: string): Colors {
  const all = [...css.matchAll(/--([\w-]+): oklch\(([\d.]+) ([\d.]+) ([\d.]+)(?: \/ ([\d.]+))?\)/g)]
  return Object.fromEntries(
    all.map(([, name = '', l, c, h, alpha = '1']) => [
      name,
      { rgb: shown({ l: Number(l), c: Number(c), h: Number(h) }), alpha: Number(alpha) },
    ]),
  )
}

const [LIGHT = '', DARK = ''] = readFileSync(`${SRC}/ui/tokens.css`, 'utf8').split("[data-theme='dark'] {")
const THEMES: Readonly<Record<string, Colors>> = {
  light: colorsIn(LIGHT),
  dark: { ...colorsIn(LIGHT), ...colorsIn(DARK) },
}

/** A color on an opaque one. */
const on = (below: Rgb, { rgb, alpha }: Color): Rgb => {
  const mixed = (part: 0 | 1 | 2): number => rgb[part] * alpha + below[part] * (1 - alpha)
  return [mixed(0), mixed(1), mixed(2)]
}

function ratio(colors: Colors, text: string, ground: string): number {
  const colorOf = (name: string): Color => colors[name] ?? assert.fail(`There is no token ${name}.`)
  const [page = '', over] = ground.split(' ')
  const below = over === undefined ? colorOf(page).rgb : on(colorOf(page).rgb, colorOf(over))
  const [name = '', percent = '100'] = text.split('/')
  return contrast(on(below, { rgb: colorOf(name).rgb, alpha: Number(percent) / 100 }), below)
}

for (const [theme, colors] of Object.entries(THEMES))
  test(`${theme}: every text has the contrast of WCAG 2.2 AA on each of its backgrounds`, () => {
    const faint = Object.entries(GROUNDS).flatMap(([text, grounds]) =>
      grounds
        .map((ground) => ({ ground, is: ratio(colors, text, ground) }))
        .filter(({ is }) => is < TEXT_CONTRAST)
        .map(({ ground, is }) => `${text} on ${ground}: ${is.toFixed(2)}`),
    )
    assert.deepEqual(faint, [])
  })

/** The texts of a file, as lists of classes such as `text-ink` or `hover:bg-hover`. A choice inside a template is a text too. */
function classesIn(file: string): readonly (readonly string[])[] {
  const source = readFileSync(`${SRC}/${file}`, 'utf8')
  const plain = [...source.matchAll(/'([^'\n]*)'|"([^"\n]*)"/g)].map(([, one, two]) => one ?? two ?? '')
  const templates = [...source.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text.replaceAll(/\$\{[^}]*\}/g, ' '))
  return [...plain, ...templates].map((text) => text.split(/\s+/))
}

/** A glyph is a shape, and its colors are not those of a text. */
const FILES = globSync('**/*.{ts,tsx}', { cwd: SRC, exclude: ['ui/glyph.tsx'] })
const CLASSES = FILES.flatMap(classesIn)
const COLORS = new Set([...Object.keys(THEMES['light'] ?? {}), 'current', 'transparent', 'brand', 'on-brand'])

/** The colors that these classes set, such as those of `text-`. */
const set = (classes: readonly string[], kind: 'text' | 'bg'): readonly string[] =>
  classes
    .map((one) => one.slice(one.lastIndexOf(':') + 1))
    .filter((one) => one.startsWith(`${kind}-`))
    .map((one) => one.slice(kind.length + 1))
    .filter((one) => COLORS.has(one.split('/')[0] ?? ''))

const used = (kind: 'text' | 'bg'): readonly string[] => [...new Set(CLASSES.flatMap((one) => set(one, kind)))]

test('the table above has every color that the sources use for a text or behind one', () => {
  const grounds = new Set(Object.values(GROUNDS).flat())
  const texts = [...Object.keys(GROUNDS), ...NO_TEXT]
  assert.deepEqual(
    {
      texts: used('text').filter((one) => !texts.includes(one)),
      grounds: used('bg').filter((one) => !grounds.has(one) && !NO_GROUND.includes(one)),
    },
    { texts: [], grounds: [] },
  )
  assert.ok(used('text').length > 15 && used('bg').length > 15, 'the classes are found')
})

const bare = (classes: readonly string[]): readonly string[] => classes.filter((one) => !one.includes(':'))

test('no element has a text on a background that the table does not have', () => {
  const pairs = CLASSES.map(bare).flatMap((classes) =>
    set(classes, 'text').flatMap((text) => set(classes, 'bg').map((ground) => ({ text, ground }))),
  )
  assert.ok(pairs.length > 20, `${pairs.length} pairs`)
  const strange = pairs.filter(
    ({ text, ground }) =>
      GROUNDS[text] !== undefined &&
      !GROUNDS[text].some((one) => one === ground || one.endsWith(` ${ground}`)) &&
      ground !== 'transparent',
  )
  assert.deepEqual(strange, [])
})
