import { accentOf, type AccentTheme } from '../../ui/accent.ts'
import type { Branding } from '../data/server.ts'

const SYSTEM = 'ui-sans-serif, system-ui, sans-serif'
const FONTS: Readonly<Record<Branding['font'], string>> = {
  system: SYSTEM,
  sans: `'Hanken Grotesk', ${SYSTEM}`,
  serif: "ui-serif, Charter, Georgia, 'Times New Roman', serif",
}
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'
const HEX = /^#[0-9a-f]{6}$/i
const RADIUS_MAX = 12

/** The style variables of a portal. A text of the branding never gets into them: colors are computed, the rest is chosen from a list. */
export function variablesOf(
  { accent, radius, font }: Pick<Branding, 'accent' | 'radius' | 'font'>,
  theme: AccentTheme,
): Readonly<Record<string, string>> {
  const corner = Math.max(0, Math.min(RADIUS_MAX, Math.round(radius) || 0))
  const shape = {
    '--font-ui': FONTS[font] ?? SYSTEM,
    '--font-data': font === 'sans' ? `'Geist Mono', ${MONO}` : MONO,
    '--radius-chip': `${Math.min(corner, 4)}px`,
    '--radius-row': `${Math.min(corner, 6)}px`,
    '--radius-button': `${corner}px`,
    '--radius-field': `${corner}px`,
    '--radius-page': `${corner === 0 ? 0 : corner + 4}px`,
  }
  if (accent === null || !HEX.test(accent)) return shape
  const colors = accentOf(accent.toLowerCase(), theme)
  return {
    ...shape,
    '--accent': colors.text,
    '--accent-soft': colors.soft,
    '--accent-line': colors.line,
    '--brand': colors.fill,
    '--on-brand': colors.onFill,
    '--brand-edge': colors.edge,
  }
}

const ALL = ['--accent', '--accent-soft', '--accent-line', '--brand', '--on-brand', '--brand-edge'] as const

/** Gives the page these looks in this theme. */
export function applyLooks(branding: Branding, theme: AccentTheme): void {
  const { style, dataset } = document.documentElement
  dataset['theme'] = theme
  for (const name of ALL) style.removeProperty(name)
  for (const [name, value] of Object.entries(variablesOf(branding, theme))) style.setProperty(name, value)
}
