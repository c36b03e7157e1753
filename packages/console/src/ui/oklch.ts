/**
 * Colors as OKLCH: lightness 0 to 1, chroma, and hue in degrees. Equal steps of lightness look equal there, and a change of lightness
 * leaves the hue as it is. The matrices are those of CSS Color 4.
 */
export type Oklch = { readonly l: number; readonly c: number; readonly h: number }
/** Red, green and blue of sRGB, 0 to 255. */
export type Rgb = readonly [number, number, number]
type Triple = readonly [number, number, number]

export function rgbOf(hex: string): Rgb {
  const number = Number.parseInt(hex.slice(1), 16)
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255]
}

export function hexOf(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

const linear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
const gamma = (part: number): number => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055)

export function oklchOf(rgb: Rgb): Oklch {
  const [r, g, b] = [linear(rgb[0] / 255), linear(rgb[1] / 255), linear(rgb[2] / 255)]
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(a, bb),
    h: ((Math.atan2(bb, a) * 180) / Math.PI + 360) % 360,
  }
}

/** Linear parts, which are outside 0 to 1 where no screen shows the color. */
function linearOf({ l, c, h }: Oklch): Triple {
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)]
  const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
    -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
    -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
  ]
}

const EDGE = 1e-4
const isShown = (parts: Triple): boolean => parts.every((part) => part >= -EDGE && part <= 1 + EDGE)
const CHROMA_STEPS = 14

/** The color on a screen. Where no screen shows it, the chroma is reduced until one does. */
export function shown({ l, c, h }: Oklch): Rgb {
  let [low, high] = [0, c]
  if (!isShown(linearOf({ l, c, h }))) {
    for (let step = 0; step < CHROMA_STEPS; step += 1) {
      const middle = (low + high) / 2
      if (isShown(linearOf({ l, c: middle, h }))) low = middle
      else high = middle
    }
  } else low = c
  const [r, g, b] = linearOf({ l, c: low, h })
  return [byte(r), byte(g), byte(b)]
}

function byte(part: number): number {
  return Math.round(Math.min(1, Math.max(0, gamma(Math.min(1, Math.max(0, part))))) * 255)
}

/** The contrast ratio of WCAG 2.2, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance([r, g, b]: Rgb): number {
  return 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255)
}
