import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'

const KEY = 'postroad.theme'
const system = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

function chosen(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

function apply(): void {
  const theme = chosen()
  document.documentElement.dataset['theme'] = theme === 'system' ? (system.matches ? 'dark' : 'light') : theme
  for (const listener of listeners) listener()
}

system.addEventListener('change', apply)
// Another tab has changed the theme.
addEventListener('storage', apply)

/** Light, dark, or the theme of the system. The first script of the page has set it before the first paint. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  apply()
}

export function toggleTheme(): void {
  chooseTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark')
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, chosen)
}
