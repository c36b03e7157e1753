import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { accentOf, BACKGROUNDS, EDGE_CONTRAST, TEXT_CONTRAST, type AccentTheme } from '../../src/ui/accent.ts'
import { contrast, hexOf, oklchOf, rgbOf, shown, type Rgb } from '../../src/ui/oklch.ts'

const THEMES = ['light', 'dark'] as const
const colors = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }))
  .map((rgb): Rgb => rgb)
const on = (theme: AccentTheme): readonly Rgb[] => BACKGROUNDS[theme].map(shown)

test('text in any brand color is readable on every background of both themes', () => {
  fc.assert(
    fc.property(colors, fc.constantFrom(...THEMES), (rgb, theme) => {
      const accent = accentOf(hexOf(rgb), theme)
      for (const background of [...on(theme), rgbOf(accent.soft)]) {
        assert.ok(contrast(rgbOf(accent.text), background) >= TEXT_CONTRAST)
        assert.ok(contrast(rgbOf(accent.edge), background) >= EDGE_CONTRAST)
      }
      assert.ok(contrast(rgbOf(accent.onFill), rgbOf(accent.fill)) >= TEXT_CONTRAST)
    }),
    { numRuns: 2_000 },
  )
})

test('a color that is readable already stays as it is, and the face of a button always does', () => {
  fc.assert(
    fc.property(colors, fc.constantFrom(...THEMES), (rgb, theme) => {
      const accent = accentOf(hexOf(rgb), theme)
      assert.equal(accent.fill, hexOf(rgb))
      const backgrounds = [...on(theme), rgbOf(accent.soft)]
      if (backgrounds.every((background) => contrast(rgb, background) >= TEXT_CONTRAST))
        assert.equal(accent.text, hexOf(rgb))
    }),
  )
})

test('an adapted color retains its hue, and adapting it again changes nothing', () => {
  for (const theme of THEMES)
    for (const hex of ['#ffd400', '#00e5ff', '#7dff5a', '#ff5a5f', '#1b2a6b', '#5b2bb5', '#8a8a00']) {
      const { text } = accentOf(hex, theme)
      const [was, is] = [oklchOf(rgbOf(hex)), oklchOf(rgbOf(text))]
      const turned = Math.abs(((was.h - is.h + 540) % 360) - 180)
      assert.ok(turned < 6, `${hex} in ${theme} became ${text}, ${turned.toFixed(1)} degrees away`)
      assert.equal(accentOf(text, theme).text, text)
    }
})

test('known colors: yellow gets darker on white, navy gets lighter on black, and black and white remain usable', () => {
  assert.deepEqual(
    ['#ffd400', '#1b2a6b', '#000000', '#ffffff'].map((hex) => [
      accentOf(hex, 'light').text,
      accentOf(hex, 'dark').text,
    ]),
    [
      [accentOf('#ffd400', 'light').text, '#ffd400'],
      ['#1b2a6b', accentOf('#1b2a6b', 'dark').text],
      ['#000000', accentOf('#000000', 'dark').text],
      [accentOf('#ffffff', 'light').text, '#ffffff'],
    ],
  )
  assert.notEqual(accentOf('#ffd400', 'light').text, '#ffd400')
  assert.equal(accentOf('#ffd400', 'light').onFill, '#000000')
  assert.equal(accentOf('#1b2a6b', 'light').onFill, '#ffffff')
})

test('OKLCH and back is the same color', () => {
  fc.assert(fc.property(colors, (rgb) => assert.deepEqual(shown(oklchOf(rgb)), rgb)))
})

test('the backgrounds are those of the style sheet', () => {
  const css = readFileSync(new URL('../../src/ui/tokens.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = css.split("[data-theme='dark'] {")
  assert.deepEqual(
    [inCss(light, 'canvas'), inCss(dark, 'canvas'), inCss(dark, 'raised')],
    [BACKGROUNDS.light[1], BACKGROUNDS.dark[0], BACKGROUNDS.dark[1]],
  )
})

function inCss(text: string, name: string): unknown {
  const [, l, c, h] = new RegExp(`--${name}: oklch\\(([\\d.]+) ([\\d.]+) ([\\d.]+)\\)`).exec(text) ?? []
  return { l: Number(l), c: Number(c), h: Number(h) }
}
