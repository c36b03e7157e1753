import { contrast, hexOf, oklchOf, rgbOf, shown, type Oklch, type Rgb } from './oklch.ts'

export type AccentTheme = 'light' | 'dark'

/** The colors that follow from one color of a brand, each as `#rrggbb`. */
export type Accent = {
  /** Links, the focus ring, the selected tab: readable on every background of the theme. */
  readonly text: string
  /** The face of the main button: the color of the brand, unchanged. */
  readonly fill: string
  /** The text on the main button. */
  readonly onFill: string
  /** The edge of the main button, which shows it where its face is as light or as dark as the page. */
  readonly edge: string
  /** A background with a trace of the color. */
  readonly soft: string
  /** The edge of such a background. */
  readonly line: string
}

/** The lightest and the darkest background for text in the color. They repeat `tokens.css`; a test compares them. */
export const BACKGROUNDS: Readonly<Record<AccentTheme, readonly Oklch[]>> = {
  light: [
    { l: 1, c: 0, h: 95 },
    { l: 0.966, c: 0.004, h: 95 },
  ],
  dark: [
    { l: 0.158, c: 0.008, h: 232 },
    { l: 0.228, c: 0.01, h: 232 },
  ],
}

/** WCAG 2.2, 1.4.3 and 1.4.11. */
export const TEXT_CONTRAST = 4.5
export const EDGE_CONTRAST = 3
const SOFT: Readonly<Record<AccentTheme, { readonly l: number; readonly c: number }>> = {
  light: { l: 0.955, c: 0.02 },
  dark: { l: 0.25, c: 0.03 },
}
const LINE: Readonly<Record<AccentTheme, { readonly l: number; readonly c: number }>> = {
  light: { l: 0.82, c: 0.06 },
  dark: { l: 0.43, c: 0.06 },
}
const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
const STEP = 0.004

/**
 * Adapts the color of a brand to a theme. The hue stays; the lightness changes only as far as readable text needs. So
 * no choice of a color makes an unreadable page, and a color that is readable already stays exactly as it is.
 */
export function accentOf(hex: string, theme: AccentTheme): Accent {
  const rgb = rgbOf(hex)
  const brand = oklchOf(rgb)
  const soft = shown({ l: SOFT[theme].l, c: Math.min(brand.c, SOFT[theme].c), h: brand.h })
  const backgrounds = [...BACKGROUNDS[theme].map(shown), soft]
  const readable = (least: number): Rgb => adapted(rgb, { brand, theme, backgrounds, least })
  return {
    text: hexOf(readable(TEXT_CONTRAST)),
    fill: hexOf(rgb),
    onFill: contrast(rgb, WHITE) >= contrast(rgb, BLACK) ? '#ffffff' : '#000000',
    edge: hexOf(readable(EDGE_CONTRAST)),
    soft: hexOf(soft),
    line: hexOf(shown({ l: LINE[theme].l, c: Math.min(brand.c, LINE[theme].c), h: brand.h })),
  }
}

type Wanted = {
  readonly brand: Oklch
  readonly theme: AccentTheme
  readonly backgrounds: readonly Rgb[]
  readonly least: number
}

/** Darker on a light theme and lighter on a dark one, until the contrast is enough. Black and white always suffice. */
function adapted(rgb: Rgb, { brand, theme, backgrounds, least }: Wanted): Rgb {
  const by = theme === 'light' ? -STEP : STEP
  let now = rgb
  for (let l = brand.l; backgrounds.some((background) => contrast(now, background) < least);) {
    l += by
    if (l <= 0 || l >= 1) return theme === 'light' ? BLACK : WHITE
    now = shown({ ...brand, l })
  }
  return now
}
